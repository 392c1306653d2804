// Goal: the n-th durable write fails as planned, before or after it happened. Method: around the
// memory store, whose own state tells what happened.

import { spawnSync } from "node:child_process";
import { storeConformance } from "@agenttx/storage/conformance";
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { type FaultPlan, faultyStore } from "./faulty-store.js";

storeConformance(
  { describe, it, expect },
  {
    name: "memory behind a faulty store without a plan",
    open: async () => {
      const store = faultyStore(openMemoryStore(), null);
      return { store, cleanup: () => store.close() };
    },
  },
);

const ONE = new Uint8Array([1]);

/** Begins, writes twice, snapshots, commits; returns how far it came. */
async function scenario(plan: FaultPlan | null) {
  const inner = openMemoryStore();
  const store = faultyStore(inner, plan);
  const failure = await (async () => {
    const tx = await store.begin("t");
    await tx.put("a", ONE);
    await tx.apply({ writes: [{ key: "b", value: ONE }], snapshot: 2 });
    await tx.commit();
    await store.writeRecords("t", { audit: [ONE] });
    return null;
  })().catch((error: unknown) => error);
  return { inner, store, failure };
}

async function overlayOf(store: ReturnType<typeof openMemoryStore>): Promise<number> {
  return (await (await store.attach("t")).scan()).length;
}

describe("faultyStore", () => {
  it("names the durable writes of a run, so that a test can fail each", async () => {
    const { store, failure } = await scenario(null);
    expect(failure).toBe(null);
    expect(store.writes).toEqual(["begin", "put", "apply", "commit", "writeRecords"]);
  });

  it("fails before the write: it did not happen", async () => {
    const { inner, failure } = await scenario({ write: 3, when: "before", kind: "throw" });
    expect(failure).toMatchObject({ code: "INTERNAL" });
    expect(String(failure)).toContain("before durable write 3 (apply)");
    expect(await overlayOf(inner)).toBe(1);
  });

  it("fails after the write: it happened, and the caller was not told", async () => {
    const { inner, failure } = await scenario({ write: 3, when: "after", kind: "throw" });
    expect(failure).toMatchObject({ code: "INTERNAL" });
    expect(await overlayOf(inner)).toBe(2);
  });

  it("fails a begin and a commit alike", async () => {
    const begun = await scenario({ write: 1, when: "after", kind: "throw" });
    expect((await begun.inner.openTransactions()).length).toBe(1);
    const before = await scenario({ write: 4, when: "before", kind: "throw" });
    expect(await before.inner.get("a")).toBe(null);
    const after = await scenario({ write: 4, when: "after", kind: "throw" });
    expect(await after.inner.get("a")).toEqual(ONE);
  });

  it("fails once, or from there on when it is sticky", async () => {
    for (const sticky of [false, true]) {
      const plan = { write: 2, when: "before", kind: "throw", sticky } as const;
      const store = faultyStore(openMemoryStore(), plan);
      const tx = await store.begin("t");
      await expect(tx.put("a", ONE)).rejects.toThrow("Fault injected");
      const again = tx.put("a", ONE).then(
        () => "written",
        () => "failed",
      );
      expect(await again).toBe(sticky ? "failed" : "written");
    }
  });

  it("throws the error of the plan, and takes a new plan", async () => {
    const error = new TypeError("disk on fire");
    const store = faultyStore(openMemoryStore(), {
      write: 1,
      when: "before",
      kind: "throw",
      error,
    });
    await expect(store.begin("t")).rejects.toBe(error);
    store.setPlan(null);
    await store.begin("t");
    expect(store.writes).toEqual(["begin", "begin"]);
  });

  it("counts the writes of attached and forked handles", async () => {
    const store = faultyStore(openMemoryStore(), null);
    await store.begin("t");
    await (await store.attach("t")).put("a", ONE);
    await (await store.fork("t", 1, "f")).delete("a");
    expect(store.writes).toEqual(["begin", "put", "fork", "delete"]);
  });

  it("lets reads through while writes fail", async () => {
    const plan = { write: 2, when: "before", kind: "throw", sticky: true } as const;
    const store = faultyStore(openMemoryStore(), plan);
    const tx = await store.begin("t");
    expect(await tx.get("a")).toBe(null);
    expect(await store.get("a")).toBe(null);
    expect(store.incarnation).toBe(1n);
  });

  it("kills the process at the write, before anything is answered", () => {
    const entry = new URL("../dist/index.js", import.meta.url).href;
    const code = `
      const { faultyStore, openMemoryStore } = await import(${JSON.stringify(entry)});
      const store = faultyStore(openMemoryStore(), { write: 2, when: "after", kind: "kill" });
      const tx = await store.begin("t");
      console.log("begun");
      await tx.put("a", new Uint8Array(1));
      console.log("written");`;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect([run.signal, run.stdout]).toEqual(["SIGKILL", "begun\n"]);
  });
});
