// Owns what comes too late (E6): a result or an undo registration after the run was closed. It
// changes nothing; the storage layer refuses it and keeps it in space `late` for people.

import { isAgentTxError, type JsonValue } from "@agenttx/model";
import { RECEIPT_BYTES_MAX, toJson } from "../json-text.js";
import { readableThrown } from "../thrown.js";
import type { EffectsCore } from "./core.js";
import { effectAudit } from "./effect-audit.js";
import { problemText } from "./problem-text.js";
import type { EffectRunState } from "./run-state.js";

/** Waits for the call behind its deadline; keeps its result as evidence. Never rejects. */
export function keepLate(core: EffectsCore, run: EffectRunState, late: Promise<unknown>): void {
  late.then(
    (value) => keep(core, run, "late-result", { output: storable(run, value) }),
    (thrown: unknown) => {
      const error = readableThrown(thrown);
      // Most calls end with the abort itself: that is no news.
      const name = typeof error === "object" && error !== null ? Reflect.get(error, "name") : null;
      if (name === "AbortError" || name === "TimeoutError") return undefined;
      return keep(core, run, "late-error", { error: String(run.redact(problemText(error))) });
    },
  );
}

/** Without secrets; null for what is no JSON: its name and time are evidence enough. */
function storable(run: EffectRunState, value: unknown): JsonValue {
  try {
    return run.redact(toJson(value ?? null, RECEIPT_BYTES_MAX).value);
  } catch {
    return null;
  }
}

/** An undo that a closed run wanted to register. */
export function lateUndo(core: EffectsCore, run: EffectRunState, action: string): Promise<void> {
  return keep(core, run, "late-undo", { action });
}

async function keep(
  core: EffectsCore,
  run: EffectRunState,
  kind: "late-result" | "late-error" | "late-undo",
  what: { readonly output?: JsonValue; readonly error?: string; readonly action?: string },
): Promise<void> {
  const { effect, call } = run;
  const { effectId, step, tool, idempotencyKey } = effect;
  const named = { v: 1, kind, effectId, step, tool, idempotencyKey, attempt: call.attempt };
  const evidence = Buffer.from(JSON.stringify({ ...named, atMs: core.clock.now(), ...what }));
  try {
    // A run that is over has no attempt: number 0 never runs, so the store refuses and keeps it.
    const fence = { owner: call.tx.header().owner, attempt: 0, step };
    await call.tx.apply({ fence, evidence });
  } catch (error) {
    if (isAgentTxError(error) && error.code === "TRANSACTION_ENDED")
      await keepInAudit(core, run, kind);
    // STALE_ATTEMPT is the refusal that keeps it; a store that is closed or poisoned keeps nothing.
  }
}

async function keepInAudit(core: EffectsCore, run: EffectRunState, kind: string): Promise<void> {
  const { id, namespace } = run.call.tx;
  try {
    const audit = [effectAudit(run.effect, kind, core.clock.now())];
    await core.store.writeRecords(id, { namespace, audit });
  } catch {
    // Evidence only: the effect's record is right without it.
  }
}
