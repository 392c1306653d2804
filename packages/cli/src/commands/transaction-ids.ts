// Owns finding every transaction a store knows: open ones and ended ones that are still kept.

import type { OpenTransaction, RecordEntry, Store } from "@agenttx/model";

const PAGE = 1000;

/** Ids in byte order, each once. */
export async function transactionIds(store: Store): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (let after: OpenTransaction | null = null; ; ) {
    const page: OpenTransaction[] = await store.openTransactions({
      limit: PAGE,
      ...(after === null ? {} : { after: { id: after.id, namespace: after.namespace } }),
    });
    for (const { id } of page) ids.add(id);
    after = page.at(-1) ?? null;
    if (page.length < PAGE) break;
  }
  for (let after: RecordEntry | null = null; ; ) {
    const page: RecordEntry[] = await store.scanRecords("terminal", {
      transaction: null,
      limit: PAGE,
      ...(after === null ? {} : { after }),
    });
    for (const { transaction } of page) ids.add(transaction);
    // A heavy page ends early: only an empty one is the last.
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  return [...ids].sort();
}
