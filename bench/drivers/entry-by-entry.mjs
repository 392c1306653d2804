// Owns the restore that everybody writes first, on a database of its own: each write journals the
// prior value, and a restore puts every record back, newest first, and deletes it.
import { equal, strictEqual } from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { timed } from "../harness/timing.mjs";
import { journaledKey, openRawRocksdb, packEntries } from "./raw-rocksdb.mjs";

/** A turn: older values or none, `writes` journaled writes over `keys` keys, the timed restore. */
export function restoreEntryByEntry(directory, { writes, keys, valueBytes, older }) {
  const own = join(directory, `entry-by-entry-${older ? "older" : "fresh"}`);
  mkdirSync(own);
  const raw = openRawRocksdb(own);
  const value = older ? Buffer.alloc(valueBytes, "=") : null;
  const names = Array.from({ length: keys }, (_, index) => journaledKey(index));
  const before = value === null ? null : packEntries(names.map((name) => [name, value]));
  return async () => {
    if (before !== null) raw.putBatch(before.bytes, before.length);
    raw.writeJournaled(writes, keys, valueBytes);
    let restored = 0;
    const took = await timed(() => {
      restored = raw.restoreEntryByEntry();
    });
    strictEqual(restored, writes);
    for (const name of names) requireValue(raw, name, value);
    return took;
  };
}

function requireValue(raw, name, value) {
  const bytes = Buffer.alloc(1_024);
  name.copy(bytes);
  const length = raw.get(bytes, name.length);
  if (value === null) strictEqual(length, null);
  else equal(bytes.subarray(0, length).equals(value), true);
}
