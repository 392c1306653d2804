// Owns reading records to the end: a short page is not the last one, only an empty page is.

import type { RecordEntry, RecordSpace, Store } from "@agenttx/model";

export interface PageRange {
  readonly namespace?: string;
  /** Null or omitted: of all transactions. */
  readonly transaction?: string | null;
  /** Space `meta` only: names after this one. */
  readonly afterName?: string;
  readonly pageSize?: number;
}

/** Every record of the range, in key order, read page by page. */
export async function* pageRecords(
  store: Store,
  space: RecordSpace,
  range: PageRange,
): AsyncGenerator<RecordEntry, void, undefined> {
  let after = range.afterName === undefined ? null : metaEntry(range.afterName);
  for (;;) {
    const page = await store.scanRecords(space, {
      transaction: range.transaction ?? null,
      ...(range.namespace === undefined ? {} : { namespace: range.namespace }),
      ...(after === null ? {} : { after }),
      ...(range.pageSize === undefined ? {} : { limit: range.pageSize }),
    });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

function metaEntry(name: string): RecordEntry {
  return { transaction: "", step: 0, seq: 0, name, value: new Uint8Array() };
}
