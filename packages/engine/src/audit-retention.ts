// Owns the end of audit chains (C10). When retention removes how a transaction ended, its chain stays,
// and a mark in space `meta`, name `audited/{transaction}`, says since when; past its own time the
// chain is erased with the mark.
//
//   A1 A chain is erased only after everything else of its transaction has been removed, so nothing
//      that is unresolved, undelivered or held loses its history.
//   A2 The store's own chain tells of each erasure, with the number of entries and the last hash, in
//      the same batch: a chain that is gone without it was taken away.
import type { AuditEntry, RecordWrite, Store } from "@agenttx/model";
import { isHeld } from "./hold.js";
import { pageAudit, pageRecords } from "./record-pages.js";
import type { EngineState } from "./state.js";

const PREFIX = "audited/";
const DECODER = new TextDecoder();

/** Goes into the batch that removes the terminal record. */
export function markAudit(transaction: string, endedAtMs: number): RecordWrite {
  const value = Buffer.from(JSON.stringify({ v: 1, endedAtMs }));
  return { space: "meta", name: `${PREFIX}${transaction}`, value };
}

/** Transactions of one namespace of which only the audit is left, in the order of their ids. */
export async function* auditedTransactions(
  store: Store,
  namespace: string,
): AsyncGenerator<{ readonly transaction: string; readonly endedAtMs: number }> {
  for await (const { name, value } of pageRecords(store, "meta", {
    namespace,
    afterName: PREFIX,
  })) {
    if (!name.startsWith(PREFIX)) return;
    // Written by markAudit alone.
    const { endedAtMs } = JSON.parse(DECODER.decode(value)) as { endedAtMs: number };
    yield { transaction: name.slice(PREFIX.length), endedAtMs };
  }
}

/** Erases the chains of one namespace whose time is over; returns how many. */
export async function eraseExpiredAudit(
  engine: EngineState,
  namespace: string,
  dryRun: boolean,
): Promise<number> {
  const { auditRetentionMs } = engine.settings;
  if (auditRetentionMs === 0) return 0;
  let erased = 0;
  for await (const { transaction, endedAtMs } of auditedTransactions(engine.store, namespace)) {
    if (engine.closing) break;
    if (engine.clock.now() - endedAtMs < auditRetentionMs) continue;
    if (await isHeld(engine.store, transaction, namespace)) continue;
    if (!dryRun) await eraseOne(engine, transaction, namespace);
    erased += 1;
  }
  return erased;
}

async function eraseOne(
  engine: EngineState,
  transaction: string,
  namespace: string,
): Promise<void> {
  let last: AuditEntry | null = null;
  for await (const entry of pageAudit(engine.store, transaction, { namespace })) last = entry;
  const event = {
    k: "audit-erased",
    tx: transaction,
    ns: namespace,
    at: engine.clock.now(),
    entries: last?.seq ?? 0,
    hash: last === null ? "" : Buffer.from(last.hash).toString("hex"),
  };
  await engine.store.writeRecords(transaction, {
    namespace,
    records: [{ space: "meta", name: `${PREFIX}${transaction}`, value: null }],
    storeAudit: [Buffer.from(JSON.stringify(event))],
    eraseAudit: true,
  });
}
