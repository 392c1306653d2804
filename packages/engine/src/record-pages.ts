// Owns reading records and audit entries to the end: a page ends early when it is heavy, so a short
// page is not the last one; only an empty page is.
import type { AuditEntry, RecordEntry, RecordSpace, Store } from "@agenttx/model";

export interface PageRange {
  readonly namespace?: string;
  /** Null or omitted: of all transactions. */
  readonly transaction?: string | null;
  readonly fromStep?: number;
  /** The entry before the first one wanted. */
  readonly after?: RecordEntry;
  /** Space `meta` only, in place of `after`: names after this one. */
  readonly afterName?: string;
  readonly pageSize?: number;
}

/** Every record of the range, in key order, read page by page. */
export async function* pageRecords(
  store: Store,
  space: RecordSpace,
  range: PageRange,
): AsyncGenerator<RecordEntry, void, undefined> {
  const { transaction = null, namespace, fromStep, afterName, pageSize: limit } = range;
  let after = afterName === undefined ? range.after : metaEntry(afterName);
  for (;;) {
    const page = await store.scanRecords(space, {
      transaction,
      ...(namespace === undefined ? {} : { namespace }),
      ...(fromStep === undefined ? {} : { fromStep }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit }),
    });
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}

/** Every entry of a transaction's chain from `fromSeq` on, read page by page. */
export async function* pageAudit(
  store: Store,
  transaction: string,
  range: { readonly namespace: string; readonly fromSeq?: number },
): AsyncGenerator<AuditEntry, void, undefined> {
  const { namespace } = range;
  for (let fromSeq = range.fromSeq ?? 1; ; ) {
    const page = await store.readAudit(transaction, { fromSeq, limit: AUDIT_PAGE, namespace });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    fromSeq = last.seq + 1;
  }
}

const AUDIT_PAGE = 500;

function metaEntry(name: string): RecordEntry {
  return { transaction: "", step: 0, seq: 0, name, value: new Uint8Array() };
}
