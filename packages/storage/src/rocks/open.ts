// Owns opening a RocksDB store: options with their defaults, checked before anything is touched.

import { AgentTxError } from "@agenttx/model";
import type { Store } from "../contract.js";
import { wholeNumber } from "../keys.js";
import type { StoreOptions } from "../options.js";
import { absolutePath } from "./arguments.js";
import { loadCheckedAddon } from "./native.js";
import { toAgentTxError } from "./native-error.js";
import { RocksStore } from "./store.js";

const MIB = 1024 * 1024;
/** What RocksDB takes for one memtable. */
const WRITE_BUFFER_BYTES_MIN = 64 * 1024;
const WRITE_BUFFER_BYTES_MAX = 64 * 1024 * MIB;

/**
 * Opens or creates the database at `path`. Within one process several opens of a path, also from
 * worker threads, share one database; it is closed with the last.
 * Throws STORE_LOCKED (another process has it), FORMAT_TOO_NEW, STORE_CORRUPT,
 * STORE_BEHIND_ANCHOR (nothing was changed), ADDON_NOT_FOUND, INVALID_ARGUMENT.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { path, syncWrites = false, salvage = false } = options;
  const absolute = absolutePath(path);
  for (const [name, flag] of Object.entries({ syncWrites, salvage })) {
    if (typeof flag !== "boolean") {
      throw new AgentTxError("INVALID_ARGUMENT", `${name} is true or false; nothing was opened.`);
    }
  }
  const reserve = bytes(options.freeSpaceReserveBytes, "freeSpaceReserveBytes", 64 * MIB);
  const cache = bytes(options.blockCacheBytes, "blockCacheBytes", 64 * MIB);
  const buffer = wholeNumber(
    options.writeBufferBytes ?? 64 * MIB,
    "writeBufferBytes",
    WRITE_BUFFER_BYTES_MIN,
    WRITE_BUFFER_BYTES_MAX,
  );
  const addon = loadCheckedAddon();
  try {
    const native = await addon.open(absolute, syncWrites, salvage, reserve, cache, buffer);
    return new RocksStore(native, { path: absolute, syncWrites });
  } catch (error) {
    throw toAgentTxError(error);
  }
}

function bytes(value: number | undefined, what: string, byDefault: number): number {
  return wholeNumber(value ?? byDefault, what, 0, Number.MAX_SAFE_INTEGER);
}
