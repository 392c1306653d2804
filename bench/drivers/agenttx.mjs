// Owns opening what is measured: the store and the engine on it, through their public API.
import { join } from "node:path";
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/storage/memory";
import { kvTools } from "@agenttx/tools";

export const DURABILITY = "write-ahead log, no fsync: survives the process";
export const DURABILITY_SYNC = "fsync before every answer: survives power loss";

export function openAgentTxStore(directory, options = {}) {
  return openStore({ path: join(directory, "agenttx"), ...options });
}

/** kv tools and nothing else; transactions are never reaped. */
export function engineOn(store, options = {}) {
  return createEngine({ store, tools: kvTools(), idleTimeoutMs: 0, ...options });
}

export { openMemoryStore };
