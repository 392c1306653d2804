// Owns how much of a list goes into one answer: by number and by bytes, so that no answer is too
// large to be sent. At least one entry is taken, whatever its size.

/** Leaves room below the message limit. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** How many entries from `from` on make a page of at most `most`. */
export function pageLength<Entry>(
  entries: readonly Entry[],
  from: number,
  most: number,
  bytesOf: (entry: Entry) => number,
): number {
  let bytes = 0;
  let length = 0;
  for (let index = from; index < entries.length && length < most; index += 1) {
    const entry = entries[index];
    if (entry === undefined) break;
    bytes += bytesOf(entry);
    if (bytes > PAGE_BYTES && length > 0) break;
    length += 1;
  }
  return length;
}
