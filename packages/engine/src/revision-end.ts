// Owns the end of a revision that another one has replaced: its state is discarded in one batch, its
// ledger, audit and terminal record stay (C1). What it still staged never leaves from here.
import { advanceEffect, encodeEffect } from "@agenttx/ledger";
import { AgentTxError, isAgentTxError, type RecordWrite } from "@agenttx/model";
import { encodeAudit } from "./audit.js";
import { attachOpen } from "./load.js";
import type { RevisionBatch, RevisionName } from "./revisions.js";
import type { EngineState, OpenTransaction } from "./state.js";
import { terminalRecord } from "./terminal.js";

/** Throws STALE_OWNER and storage errors. False, and nothing done, when it has ended. */
export async function endRevision(
  engine: EngineState,
  { transaction, namespace }: RevisionName,
  { owner, reason, batch }: { owner: bigint; reason: string; batch: RevisionBatch },
): Promise<boolean> {
  const open = await attachIfOpen(engine, transaction, namespace);
  if (open === null) return false;
  const at = engine.clock.now();
  const status = "ROLLED_BACK";
  const ended = { status, reason, commit: null, rollback: null } as const;
  const entry = encodeAudit({ k: "abort", at, status, reason });
  const leftovers = await settledForGood(engine, open);
  const { attempt, step } = open.tx.header();
  await open.tx.discard({
    fence: { owner, attempt, step },
    records: [...leftovers, ...(batch.records ?? []), terminalRecord(open, ended)],
    audit: [...(batch.audit ?? []), entry],
    storeAudit: [
      ...(batch.storeAudit ?? []),
      Buffer.from(JSON.stringify({ k: "abort", tx: open.id, at, status, reason })),
    ],
  });
  return true;
}

async function attachIfOpen(
  engine: EngineState,
  transaction: string,
  namespace: string,
): Promise<OpenTransaction | null> {
  try {
    return await attachOpen(engine, transaction, namespace);
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

/** Confirmed effects stand now: their undo goes. Staged ones were taken over by a later revision. */
async function settledForGood(engine: EngineState, open: OpenTransaction): Promise<RecordWrite[]> {
  const { effects: port, clock } = engine;
  const records: RecordWrite[] = [];
  const effects = await port.listEffects(open.id, open.namespace);
  for (const effect of effects) {
    if (effect.state !== "staged") continue;
    const dropped = advanceEffect(effect, { type: "drop" }, clock.now());
    if (!dropped.ok) throw new AgentTxError("INTERNAL", dropped.rejection.message);
    const seq = Number(effect.effectId.slice(effect.effectId.lastIndexOf("/") + 1));
    records.push({ space: "effect", seq, value: encodeEffect(dropped.record) });
  }
  const confirmed = new Set(
    effects.filter(({ state }) => state === "confirmed").map(({ effectId }) => effectId),
  );
  for (const undo of await port.undoActions(open.id, open.namespace)) {
    if (!confirmed.has(undo.effectId)) continue;
    records.push({ space: "saga", step: undo.step, seq: undo.seq, value: null });
  }
  return records;
}
