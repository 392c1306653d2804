// Owns `agenttx audit verify`: recomputes the hash chain of each transaction and of the store.

import type { AuditEntry, Store } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import { auditHash, auditStart } from "@agenttx/storage/memory";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";
import { openExistingStore } from "../session.js";
import { transactionIds } from "./transaction-ids.js";

const PAGE = 1000;

/** What became of one chain. */
export interface ChainReport {
  /** Transaction id, or null for the chain of the store. */
  readonly transaction: string | null;
  readonly entries: number;
  /** Number of the first entry that does not fit, or null. */
  readonly brokenAt: number | null;
}

/** Exit code 1 when a chain is broken, 3 when the transaction is not known. */
export async function auditVerify(context: CommandContext, id: string | null): Promise<number> {
  const store = await openExistingStore(context.dataDirectory);
  try {
    const chains: ChainReport[] = [];
    const wanted = id === null ? [null, ...(await transactionIds(store))] : [id];
    for (const transaction of wanted) chains.push(await verifyChain(store, transaction));
    const single = chains[0];
    if (id !== null && single?.entries === 0) {
      throw new AgentTxError("NOT_FOUND", `There is no audit chain of transaction ${id}.`, {
        details: { transaction: id },
      });
    }
    return report(context, chains);
  } finally {
    await store.close();
  }
}

async function verifyChain(store: Store, transaction: string | null): Promise<ChainReport> {
  let previous = auditStart(transaction);
  let seq = 0;
  for (;;) {
    const page: AuditEntry[] = await store.readAudit(transaction, {
      fromSeq: seq + 1,
      limit: PAGE,
    });
    for (const entry of page) {
      seq += 1;
      const hash = auditHash(previous, seq, entry.payload);
      const fits = entry.seq === seq && Buffer.compare(hash, entry.hash) === 0;
      if (!fits) return { transaction, entries: seq, brokenAt: seq };
      previous = entry.hash;
    }
    // A heavy page ends early: only an empty one is the last.
    if (page.length === 0) return { transaction, entries: seq, brokenAt: null };
  }
}

function report({ output }: CommandContext, chains: readonly ChainReport[]): number {
  const broken = chains.filter((chain) => chain.brokenAt !== null);
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0);
  const intact = broken.length === 0;
  output.data({ apiVersion: API_VERSION, type: "audit", intact, chains });
  for (const chain of broken) {
    const name =
      chain.transaction === null ? "the store's chain" : `transaction ${chain.transaction}`;
    output.line(output.paint("red", `altered: ${name}, at entry ${chain.brokenAt}`));
  }
  if (intact) {
    output.line(output.paint("green", `intact: ${chains.length} chains, ${entries} entries`));
  }
  return intact ? EXIT.OK : EXIT.FAILED;
}
