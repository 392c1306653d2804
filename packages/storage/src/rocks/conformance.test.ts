// Goal: the RocksDB driver keeps every promise of the Store contract. A restart is a close and a
// new open of the same directory.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storeConformance } from "../conformance.js";
import type { Store } from "../contract.js";
import { openStore } from "./open.js";

for (const syncWrites of [false, true]) {
  storeConformance(
    { describe, it, expect },
    {
      name: `rocksdb, syncWrites ${syncWrites}`,
      open: async () => {
        const path = await mkdtemp(join(tmpdir(), "agenttx-conformance-"));
        const remove = () => rm(path, { recursive: true, force: true });
        const store = await openStore({ path, syncWrites }).catch(async (error: unknown) => {
          await remove();
          throw error;
        });
        let current: Store = store;
        return {
          store,
          reopen: async () => {
            await current.close();
            current = await openStore({ path, syncWrites });
            return current;
          },
          cleanup: async () => {
            try {
              await current.close();
            } finally {
              await remove();
            }
          },
        };
      },
    },
  );
}
