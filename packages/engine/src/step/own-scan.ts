// Owns a range read of a running step: pages of its transaction with the step's own writes over them.
//
//   O1 An answer shows nothing behind what was read of the transaction: a caller that goes on after
//      its last key misses nothing (S5).
//   O2 Only an empty answer, or one shorter than its limit with less than SCAN_BYTES_MAX, means that
//      there is no more: pages that the step has deleted are read over.
import { AgentTxError, limits, type StateEntry, type StateRange } from "@agenttx/model";

/** Writes of the step, one per key; null deletes. */
export interface OwnWrite {
  readonly key: Buffer;
  readonly value: Uint8Array | null;
}

type ReadPage = (range: StateRange) => Promise<readonly StateEntry[]>;

/** REQUIRES: `own` lies within `range`. */
export async function scanWithOwn(
  range: StateRange,
  own: readonly OwnWrite[],
  read: ReadPage,
): Promise<readonly StateEntry[]> {
  const limit = checkedLimit(range.limit);
  const sign = range.reverse === true ? -1 : 1;
  const compare = (one: Uint8Array, other: Uint8Array) => sign * Buffer.compare(one, other);
  let unseen = [...own].sort((one, other) => compare(one.key, other.key));
  for (let rest = range; ; ) {
    // Every own write may hide one stored entry, so that many more are read.
    const asked = Math.min(limit + unseen.length, limits.SCAN_ENTRIES_MAX);
    const page = await read({ ...rest, limit: asked });
    const last = page.at(-1);
    if (last === undefined || isEnd(page, asked)) return merge(page, unseen, compare, limit);
    const behind = unseen.findIndex(({ key }) => compare(key, last.key) > 0);
    const within = behind < 0 ? unseen : unseen.slice(0, behind);
    const found = merge(page, within, compare, limit);
    if (found.length > 0) return found;
    unseen = unseen.slice(within.length);
    rest = after(rest, last.key);
  }
}

function checkedLimit(limit: number | undefined): number {
  if (limit === undefined) return limits.SCAN_ENTRIES_DEFAULT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.SCAN_ENTRIES_MAX) return limit;
  const text = `The limit of a scan is a whole number from 1 to ${limits.SCAN_ENTRIES_MAX}.`;
  throw new AgentTxError("INVALID_ARGUMENT", text);
}

/** What the contract of Store says of a page that is shorter than was asked. */
function isEnd(page: readonly StateEntry[], asked: number): boolean {
  if (page.length >= asked) return false;
  let bytes = 0;
  for (const { key, value } of page) bytes += key.byteLength + value.byteLength;
  return bytes < limits.SCAN_BYTES_MAX;
}

/** What of `range` lies behind `key`, in the direction of the scan. */
function after({ prefix, ...range }: StateRange, key: Uint8Array): StateRange {
  const bounds = prefix === undefined ? range : { ...range, ...boundsOf(prefix) };
  if (range.reverse === true) return { ...bounds, end: key };
  return { ...bounds, start: Buffer.concat([key, Buffer.of(0)]) };
}

function boundsOf(prefix: string | Uint8Array): { start: Buffer; end?: Buffer } {
  const start = Buffer.from(prefix as string);
  let length = start.length;
  while (length > 0 && start[length - 1] === 0xff) length -= 1;
  if (length === 0) return { start };
  const end = Buffer.from(start.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return { start, end };
}

/** Two lists in the order of `compare` as one; of equal keys the own write counts. */
function merge(
  stored: readonly StateEntry[],
  own: readonly OwnWrite[],
  compare: (one: Uint8Array, other: Uint8Array) => number,
  limit: number,
): StateEntry[] {
  const merged: StateEntry[] = [];
  let next = 0;
  for (const { key, value } of own) {
    for (let entry = stored[next]; entry !== undefined; entry = stored[next]) {
      const order = compare(entry.key, key);
      if (order > 0) break;
      next += 1;
      if (order < 0) merged.push(entry);
    }
    if (value !== null) merged.push({ key: new Uint8Array(key), value: new Uint8Array(value) });
  }
  for (; next < stored.length && merged.length < limit; next += 1) {
    const entry = stored[next];
    if (entry !== undefined) merged.push(entry);
  }
  return merged.slice(0, limit);
}
