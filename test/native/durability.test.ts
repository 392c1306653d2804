// Goal: what was acknowledged survives kill -9 (S9); with syncWrites each answer comes after an
// fsync and concurrent callers share one. The oracle is outside the victim: its lines of stdout.

import { openStore } from "@agenttx/storage";
import { describe, expect, it } from "vitest";
import { childScript, runChild, startChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

describe("durability", () => {
  for (const syncWrites of [false, true]) {
    it(`keeps every acknowledged commit over kill -9 (syncWrites ${syncWrites})`, {
      timeout: 120_000,
    }, async () => {
      const path = await temporaryDirectory();
      const acknowledged: string[] = [];
      for (const [life, enough] of [40, 90, 150].entries()) {
        const script = childScript("commit-for-ever.mjs");
        const child = startChild(process.execPath, [
          script,
          path,
          String(syncWrites),
          `life${life}/`,
        ]);
        await child.linesReached(enough);
        child.process.kill("SIGKILL");
        const end = await child.ended;
        expect(end.signal).toBe("SIGKILL");
        expect(end.lines.length).toBeGreaterThanOrEqual(enough);
        acknowledged.push(...end.lines);
        await using store = await openStore({ path, syncWrites });
        for (const name of acknowledged) {
          for (const part of ["a", "b", "c"]) {
            expect((await store.get(`${name}/${part}`))?.length, `${name}/${part}`).toBe(100);
          }
        }
        const all = await store.scan({ limit: 100_000 });
        expect(all.length % 3, "a commit is all or nothing").toBe(0);
      }
    });
  }

  it("answers under syncWrites only after an fsync, whatever kind of batch it is", async () => {
    await using store = await openStore({ path: await temporaryDirectory(), syncWrites: true });
    const value = new Uint8Array(10);
    let before = (await store.stats()).walSyncs;
    const syncedBy = async (what: string, call: Promise<unknown>) => {
      await call;
      const after = (await store.stats()).walSyncs;
      expect(after, what).toBeGreaterThan(before);
      before = after;
    };
    await syncedBy("begin", store.begin("t"));
    const tx = await store.attach("t");
    await syncedBy("put", tx.put("k", value));
    await syncedBy("snapshot", tx.createSnapshot(2));
    await syncedBy("step", tx.apply({ records: [{ space: "saga", step: 1, seq: 1, value }] }));
    await syncedBy("restore", tx.restoreSnapshot(1));
    await syncedBy("audit", tx.apply({ audit: [value] }));
    await syncedBy("records", store.writeRecords("", { storeAudit: [value] }));
    await syncedBy("fork", store.fork("t", 1, "u"));
    await syncedBy("discard", (await store.attach("u")).discard());
    await syncedBy("commit", tx.commit());
  });

  it("lets concurrent callers share an fsync", async () => {
    await using store = await openStore({ path: await temporaryDirectory(), syncWrites: true });
    const handles = await Promise.all(
      Array.from({ length: 64 }, (_, index) => store.begin(`t${index}`)),
    );
    const before = (await store.stats()).walSyncs;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(handles.map((tx) => tx.put(`k${round}`, new Uint8Array(100))));
    }
    const syncs = (await store.stats()).walSyncs - before;
    expect(syncs).toBeGreaterThanOrEqual(10);
    expect(syncs).toBeLessThanOrEqual(160);
  });
});

describe("one process at a time", () => {
  it("refuses a second process with STORE_LOCKED and lets it in after the close", async () => {
    const path = await temporaryDirectory();
    const store = await openStore({ path });
    const tx = await store.begin("t");
    await tx.put("k", new Uint8Array(1));
    const refused = await runChild("try-open.mjs", [path]);
    expect(refused.code).toBe(0);
    expect(refused.lines[0]).toMatch(/^STORE_LOCKED: /);
    await tx.commit();
    expect((await store.get("k"))?.length).toBe(1);
    await store.close();
    expect((await runChild("try-open.mjs", [path])).lines).toEqual(["opened"]);
  });
});
