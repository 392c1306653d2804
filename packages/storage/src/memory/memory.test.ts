// Goal: the reference store keeps the whole contract. Method: the conformance suite, and the few
// answers that are its own.

import { describe, expect, it } from "vitest";
import { storeConformance } from "../conformance.js";
import { openMemoryStore } from "../memory.js";

storeConformance(
  { describe, it, expect },
  {
    name: "memory",
    open: async () => {
      const store = openMemoryStore();
      return { store, cleanup: () => store.close() };
    },
  },
);

describe("memory store", () => {
  it("refuses a checkpoint, for it has no files", async () => {
    await using store = openMemoryStore();
    await expect(store.checkpoint("somewhere")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("reports syncWrites as it was given", async () => {
    await using plain = openMemoryStore();
    await using synced = openMemoryStore({ syncWrites: true });
    expect([plain.syncWrites, synced.syncWrites]).toEqual([false, true]);
  });

  it("forgets at a restart the reads that no batch followed", async () => {
    await using store = openMemoryStore();
    const tx = await store.begin("t");
    await tx.get("noted");
    await tx.createSnapshot(2);
    await tx.get("forgotten");
    await store.reopen();
    expect((await store.attach("t")).touched().read).toBe(1);
  });
});
