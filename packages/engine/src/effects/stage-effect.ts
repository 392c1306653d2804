// Owns staged effects before their commit (E7): the record that waits, and the outbox rows that the
// commit batch carries.

import { effectSeqOf, isOpen } from "@agenttx/ledger";
import { AgentTxError, type EffectRecord, type RecordWrite } from "@agenttx/model";
import type { EffectName, EffectsPort } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { change } from "./effect-change.js";
import { effectWrites, readEffects } from "./effect-store.js";
import { putRow } from "./outbox-row.js";
import { recordOf } from "./run-state.js";

/** The `staged` record, for the step's batch. Nothing leaves before the commit. */
export function stageEffect(
  core: EffectsCore,
  call: Parameters<EffectsPort["stageEffect"]>[0],
): ReturnType<EffectsPort["stageEffect"]> {
  const { effect } = recordOf(core, call, "staged");
  const counters = { ...call.counters, effectSeq: call.counters.effectSeq + 1 };
  return { effect, counters, records: effectWrites(null, effect, []) };
}

/** Outbox rows and effect updates for the commit batch. Refuses while something is open (E8a). */
export async function commitRecords(
  core: EffectsCore,
  target: Omit<EffectName, "seq">,
): Promise<RecordWrite[]> {
  const { effects, damage } = await readEffects(core.store, target);
  requireNothingOpen(target.transaction, [
    ...effects.filter(({ state }) => isOpen(state)).map(({ effectId }) => effectId),
    ...damage.flatMap(({ effectId }) => (effectId === null ? [] : [effectId])),
  ]);
  const staged = effects.filter(({ state }) => state === "staged");
  if (staged.length > 0) await core.namespaces.ensure(target.namespace);
  return staged.flatMap((effect) => intoOutbox(core, effect));
}

function intoOutbox(core: EffectsCore, effect: EffectRecord): RecordWrite[] {
  const requested = change(core, effect, { type: "request" });
  const row = { failedTries: 0, nextAtMs: core.clock.now(), parked: false };
  return [...effectWrites(effect, requested, []), putRow(effectSeqOf(effect.effectId), row)];
}

function requireNothingOpen(transaction: string, open: readonly string[]): void {
  if (open.length === 0) return;
  throw new AgentTxError(
    "RECONCILIATION_REQUIRED",
    `Transaction ${transaction} has ${open.length} effects whose outcome is open; it was not committed. Resolve them first, or abort.`,
    { details: { effects: open.slice(0, 32), count: open.length } },
  );
}
