// Owns finding and reading every audit chain of a store: of open transactions, of ended ones, of those
// of which only the audit is left, in all namespaces; and the store's own.

import { auditedTransactions, listNamespaces } from "@agenttx/engine";
import type { AuditEntry, OpenTransaction, RecordEntry, Store } from "@agenttx/model";

const PAGE = 1000;

/** `transaction` null: the store's own chain, which belongs to no namespace. */
export interface ChainName {
  readonly transaction: string | null;
  readonly namespace: string;
}

/** Every chain once: the store's first, then by namespace. */
export async function* allChains(store: Store): AsyncGenerator<ChainName> {
  yield { transaction: null, namespace: "" };
  const open = await openIds(store);
  const namespaces = new Set([...(await listNamespaces(store)), ...open.keys()]);
  for (const namespace of namespaces) {
    const ids = new Set(open.get(namespace));
    for await (const { transaction } of terminals(store, namespace)) ids.add(transaction);
    for await (const { transaction } of auditedTransactions(store, namespace)) ids.add(transaction);
    for (const transaction of [...ids].sort()) yield { transaction, namespace };
  }
}

/** The chains of one transaction: an id is made once, but each namespace is looked into. */
export async function* chainsOf(store: Store, transaction: string): AsyncGenerator<ChainName> {
  for (const namespace of await listNamespaces(store)) {
    const [first] = await store.readAudit(transaction, { namespace, limit: 1 });
    if (first !== undefined) yield { transaction, namespace };
  }
}

/** Every entry from the first on, page by page. */
export async function* entriesOf(
  store: Store,
  { transaction, namespace }: ChainName,
): AsyncGenerator<AuditEntry> {
  for (let fromSeq = 1; ; ) {
    const page = await store.readAudit(transaction, { namespace, fromSeq, limit: PAGE });
    yield* page;
    // A heavy page ends early: only an empty one is the last.
    const last = page.at(-1);
    if (last === undefined) return;
    fromSeq = last.seq + 1;
  }
}

async function openIds(store: Store): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (let after: OpenTransaction | undefined; ; ) {
    const page: OpenTransaction[] = await store.openTransactions({
      limit: PAGE,
      ...(after === undefined ? {} : { after: { id: after.id, namespace: after.namespace } }),
    });
    for (const { id, namespace } of page) {
      const ids = found.get(namespace);
      if (ids === undefined) found.set(namespace, [id]);
      else ids.push(id);
    }
    after = page.at(-1);
    if (after === undefined) return found;
  }
}

async function* terminals(store: Store, namespace: string): AsyncGenerator<RecordEntry> {
  for (let after: RecordEntry | undefined; ; ) {
    const page: RecordEntry[] = await store.scanRecords("terminal", {
      transaction: null,
      namespace,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}
