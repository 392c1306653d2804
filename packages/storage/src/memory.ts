// Owns the entry point @agenttx/storage/memory: the reference store, without a native addon.

import type { Store } from "./contract.js";
import { MemoryStore } from "./memory/store.js";

export interface MemoryStoreOptions {
  /** Accepted and reported, without effect: nothing here outlives the process. Default false. */
  readonly syncWrites?: boolean;
}

/**
 * A store that keeps everything in this process's memory and the whole contract: isolation,
 * conflicts, snapshots, fencing, records and audit chains. `reopen()` simulates a restart.
 * `checkpoint()` is refused with INVALID_ARGUMENT. Nothing survives the process (no C2).
 */
export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore({ syncWrites: options.syncWrites ?? false });
}

export { auditHash, auditStart } from "./memory/audit.js";
