// Owns one effectful external call, from the durable intent to its outcome (E2-E6).
//
//   I1 The tool is not called before intent, undo and header are durable in one batch.
//   I2 What the tool registers as undo is durable before `registerUndo` resolves (E4).
//   I3 No answer in time is no failure: the lookup decides (E5).
//   I4 A result that comes after its run was closed is evidence and nothing else (E6).

import type { EffectRecord, JsonValue, RecordWrite } from "@agenttx/model";
import { RECEIPT_BYTES_MAX, toJson } from "../json-text.js";
import { readableThrown } from "../thrown.js";
import type { EffectCall, EffectRun } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { waitAfter } from "./core.js";
import { Stopped, sleep, withDeadline } from "./deadline.js";
import { effectAudit } from "./effect-audit.js";
import { change, tell } from "./effect-change.js";
import { effectWrites } from "./effect-store.js";
import { keepLate } from "./late-evidence.js";
import { type Finding, lookUp } from "./lookup.js";
import { beginRun, type EffectRunState } from "./run-state.js";

/** Runs the call. Throws storage errors and ABORTED_BY_SIGNAL before anything was written. */
export async function runEffect(core: EffectsCore, call: EffectCall): Promise<EffectRun> {
  const run = await beginRun(core, call);
  const deadlineMs = call.tool.deadlineMs ?? core.limits.toolDeadlineMs;
  for (let failed = 1; ; failed += 1) {
    const limit = { ms: deadlineMs, outer: call.signal };
    const raced = await withDeadline(core.clock, limit, (signal) => run.execute(signal));
    if (raced.kind === "stopped") {
      run.close();
      keepLate(core, run, raced.late);
      return settleLost(core, run, lostError(call.tool.name, raced.why, deadlineMs));
    }
    await run.registrationsDone();
    const output = raced.kind === "returned" ? readOutput(raced.value) : raced;
    if (output.kind === "json" && run.registrationError === null) {
      run.close();
      return succeed(core, run, output.value);
    }
    const error = run.registrationError ?? (output.kind === "threw" ? output.error : null);
    const waitMs = call.retry?.(error, failed) ?? null;
    if (waitMs === null || !(await waited(core, waitMs, call.signal))) {
      run.close();
      return settleThrown(core, run, error);
    }
  }
}

/** False when the caller gave up meanwhile. */
async function waited(core: EffectsCore, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(core.clock, ms, signal);
    return true;
  } catch (error) {
    if (error instanceof Stopped) return false;
    throw error;
  }
}

function lostError(tool: string, why: "deadline" | "aborted", deadlineMs: number): Error {
  const text =
    why === "deadline"
      ? `${tool} timed out: no answer within ${deadlineMs} ms.`
      : `${tool} was stopped before it answered.`;
  const error = new Error(text);
  error.name = why === "deadline" ? "TimeoutError" : "AbortError";
  return error;
}

type Output =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "threw"; readonly error: unknown };

/** An output that is no JSON cannot be stored: the call failed, its effect may stand. */
function readOutput(value: unknown): Output {
  try {
    return { kind: "json", value: toJson(value ?? null, RECEIPT_BYTES_MAX).value };
  } catch (error) {
    return { kind: "threw", error: readableThrown(error) };
  }
}

function undoUntil(core: EffectsCore, call: EffectCall): number | null {
  const within = call.tool.undoWithinMs;
  return within === undefined ? null : core.clock.now() + within;
}

function succeed(core: EffectsCore, run: EffectRunState, output: JsonValue): EffectRun {
  const undoUntilMs = undoUntil(core, run.call);
  const before = run.effect;
  const receipt = run.redact(output);
  const effect = change(core, before, { type: "confirm", receipt, undoUntilMs });
  const records: readonly RecordWrite[] = effectWrites(before, effect, run.undo);
  return { kind: "succeeded", output, effect, counters: run.counters, records };
}

/** The tool threw: certainly nothing, perhaps a part, or for a pivot: nobody knows. */
async function settleThrown(
  core: EffectsCore,
  run: EffectRunState,
  error: unknown,
): Promise<EffectRun> {
  const registered = run.undo.some(({ action }) => action !== "compensate");
  // Registered undo speaks of parts that did happen, whatever the tool says at the end.
  if (isDefinite(error) && !registered) {
    return failed(core, run, error, change(core, run.effect, { type: "fail" }), "fail");
  }
  if (run.call.effectClass === "irreversible") return settleLost(core, run, error);
  return partial(core, run, error);
}

/** It may have happened, without an output: it waits for its compensation (E2). */
function partial(core: EffectsCore, run: EffectRunState, error: unknown): Promise<EffectRun> {
  const undoUntilMs = undoUntil(core, run.call);
  const effect = change(core, run.effect, { type: "confirm", receipt: null, undoUntilMs });
  return failed(core, run, error, effect, "confirm");
}

async function failed(
  core: EffectsCore,
  run: EffectRunState,
  error: unknown,
  effect: EffectRecord,
  event: string,
): Promise<EffectRun> {
  await save(core, run, effect, event);
  return { kind: "failed", error, effect, counters: run.counters };
}

async function save(
  core: EffectsCore,
  run: EffectRunState,
  effect: EffectRecord,
  event: string,
  why?: string,
): Promise<void> {
  const waitMs = effect.waitsFor === "retry" ? waitAfter(core, 1) : null;
  const nextAtMs = waitMs === null ? null : core.clock.now() + waitMs;
  const records = effectWrites(run.effect, effect, run.undo, { failedTries: 1, nextAtMs });
  const more = why === undefined ? {} : { why };
  await run.write({ records, audit: [effectAudit(effect, event, core.clock.now(), more)] });
  run.effect = effect;
}

/** Deadline, stop, or a pivot that threw: indeterminate until a lookup says more (I3). */
async function settleLost(
  core: EffectsCore,
  run: EffectRunState,
  error: unknown,
): Promise<EffectRun> {
  await save(core, run, change(core, run.effect, { type: "lose" }), "lose");
  const finding = await lookUp(core, run.effect, {
    tries: core.limits.inlineTries,
    stop: core.closing,
    args: run.call.args,
  });
  const registered = run.undo.some(({ action }) => action !== "compensate");
  switch (finding.kind) {
    case "landed":
      if (finding.output === undefined) return partial(core, run, error);
      return succeed(core, run, finding.output);
    case "absent":
      if (registered) return partial(core, run, error);
      return failed(core, run, error, change(core, run.effect, { type: "find-absent" }), "absent");
    case "unknown":
      return leaveOpen(core, run, error, finding);
  }
}

async function leaveOpen(
  core: EffectsCore,
  run: EffectRunState,
  error: unknown,
  finding: Finding & { readonly kind: "unknown" },
): Promise<EffectRun> {
  const retry = run.call.tool.lookup === undefined ? "person" : "retry";
  const waitsFor = finding.missing ?? retry;
  const event = { type: "give-up", problem: finding.problem, waitsFor } as const;
  const effect = change(core, run.effect, event);
  await save(core, run, effect, "give-up", finding.problem);
  tell(core, "effect-unresolved", effect, { waitsFor });
  return { kind: "unresolved", error, effect, counters: run.counters };
}

function isDefinite(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "definite") === true;
}
