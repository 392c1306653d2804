// Owns the floors: RocksDB alone with its default options, called from JavaScript, and the restore
// that everybody writes first (every journal record, newest first, is put back and deleted).
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const ADDON = fileURLToPath(
  new URL("../../native/build/Release/agenttx_bench.node", import.meta.url),
);

export const DURABILITY = "write-ahead log, no fsync";

export function loadBenchAddon() {
  return require(ADDON);
}

export function openRawRocksdb(directory, { syncWrites = false } = {}) {
  const { RawDatabase } = loadBenchAddon();
  return new RawDatabase(join(directory, "raw"), syncWrites);
}

/** Key and value after one another, as `put` takes them. */
export function packPut(key, value) {
  return { bytes: Buffer.concat([key, value]), keyLength: key.length, valueLength: value.length };
}

/** The entries of one batch, as `putBatch` takes them. */
export function packEntries(entries) {
  const parts = [];
  for (const [key, value] of entries) parts.push(sized(key), sized(value));
  const bytes = Buffer.concat(parts);
  return { bytes, length: bytes.length };
}

function sized(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A key as `writeJournaled` makes it. */
export function journaledKey(index) {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(index);
  return key;
}
