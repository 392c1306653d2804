// Owns the removal of what finished transactions leave (C10): terminal records, request answers and
// the ledger of settled effects, after the retention time; and, later, their audit.
//
//   N1 A transaction with anything unresolved or undelivered keeps everything.
//   N2 What is held (a legal hold) keeps everything, however old, until the hold is lifted.
//   N3 Works in pages, and removes a transaction in one batch, the terminal record last in it.
import type { RecordWrite } from "@agenttx/model";
import { eraseExpiredAudit, markAudit } from "./audit-retention.js";
import { BEGIN_NOTE, removeMark } from "./begin-request.js";
import { isHeld } from "./hold.js";
import { pageRecords } from "./record-pages.js";
import type { EngineState } from "./state.js";
import { decodeTerminal } from "./terminal.js";

export interface RetentionReport {
  readonly looked: number;
  readonly removed: number;
  /** Kept past their time, because an effect of them is not settled. */
  readonly kept: number;
  /** Kept past their time by a hold. */
  readonly held: number;
  /** Audit chains whose own time was over. */
  readonly auditErased: number;
}

export interface RetentionOptions {
  /** Counts what would be removed, and changes nothing. */
  readonly dryRun?: boolean;
}

const SETTLED: readonly string[] = [
  "dropped",
  "confirmed",
  "failed",
  "absent",
  "compensated",
  "resolved",
];

/** Removes what has expired in every namespace. */
export async function removeExpired(
  engine: EngineState,
  { dryRun = false }: RetentionOptions = {},
): Promise<RetentionReport> {
  const report = { looked: 0, removed: 0, kept: 0, held: 0, auditErased: 0 };
  for (const namespace of await engine.namespaces.list()) {
    for await (const entry of pageRecords(engine.store, "terminal", { namespace })) {
      if (engine.closing) return report;
      report.looked += 1;
      const { endedAtMs } = decodeTerminal(entry.value);
      if (engine.clock.now() - endedAtMs < engine.settings.retentionMs) continue;
      const id = entry.transaction;
      if (await isHeld(engine.store, id, namespace)) report.held += 1;
      else if (await removeOne(engine, { id, namespace, endedAtMs }, dryRun)) report.removed += 1;
      else report.kept += 1;
    }
    report.auditErased += await eraseExpiredAudit(engine, namespace, dryRun);
  }
  return report;
}

async function removeOne(
  engine: EngineState,
  { id, namespace, endedAtMs }: { id: string; namespace: string; endedAtMs: number },
  dryRun: boolean,
): Promise<boolean> {
  const effects = await engine.effects.listEffects(id, namespace);
  if (effects.some(({ state }) => !SETTLED.includes(state))) return false;
  const removals: RecordWrite[] = [];
  const range = { transaction: id, namespace };
  for (const space of ["outbox", "saga"] as const) {
    for await (const _pending of pageRecords(engine.store, space, range)) return false;
  }
  if (dryRun) return true;
  for (const space of ["request", "effect", "late"] as const) {
    for await (const { step, seq, name, value } of pageRecords(engine.store, space, range)) {
      if (space === "request" && name === BEGIN_NOTE) removals.push(removeMark(value));
      removals.push({ space, step, seq, name, value: null });
    }
  }
  removals.push(markAudit(id, endedAtMs), { space: "terminal", value: null });
  await engine.store.writeRecords(id, { namespace, records: removals });
  return true;
}
