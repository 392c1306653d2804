// Owns reading records and audit entries to the end. A page ends early when it is heavy: one that is
// short and light is the last, after a short and heavy one another is read.
import {
  type AuditEntry,
  limits,
  type RecordEntry,
  type RecordSpace,
  type Store,
} from "@agenttx/model";

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
    if (after === undefined || isLast(page, limit, ({ value }) => value.length)) return;
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
    if (last === undefined || isLast(page, AUDIT_PAGE, ({ payload }) => payload.length)) return;
    fromSeq = last.seq + 1;
  }
}

const AUDIT_PAGE = 500;
/** Far below the weight at which a store ends a page, whatever the keys weigh. */
const LIGHT_BYTES = 1 << 20;

/** True when the page ended because nothing follows: saves the read that would find nothing. */
export function isLast<Entry>(
  page: readonly Entry[],
  limit: number | undefined,
  bytesOf: (entry: Entry) => number,
): boolean {
  if (page.length >= (limit ?? limits.SCAN_ENTRIES_DEFAULT)) return false;
  let bytes = 0;
  for (const entry of page) bytes += bytesOf(entry);
  return bytes < LIGHT_BYTES;
}

function metaEntry(name: string): RecordEntry {
  return { transaction: "", step: 0, seq: 0, name, value: new Uint8Array() };
}
