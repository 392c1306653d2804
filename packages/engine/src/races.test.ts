// Goal: two callers who come at the same moment never get in between each other's check and act.
// Method: all of them wait for the same thing, and go on in the same turn.
import { AgentTxError, type StoreTransaction } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { KeepAlive } from "./keep-alive.js";
import { OperationLock } from "./lock.js";
import { unfreezeOperation } from "./operations.js";
import type { OpenTransaction } from "./state.js";
import { FakeClock } from "./testing/fake-clock.js";
import { echo, harness, put, World } from "./testing/harness.js";

const FULL = new AgentTxError("RESOURCE_EXHAUSTED", "The disk is full.");

describe("a begin with a request id", () => {
  it("opens one transaction when the first of three at once fails", async () => {
    const store = openMemoryStore();
    const begin = store.begin.bind(store);
    let calls = 0;
    store.begin = async (...args): Promise<StoreTransaction> => {
      calls += 1;
      if (calls === 1) throw FULL;
      return begin(...args);
    };
    const { engine } = harness([echo], { store });
    const all = await Promise.allSettled([1, 2, 3].map(() => engine.begin({ requestId: "once" })));
    const ids = all.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    expect(all.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(new Set(ids).size).toBe(1);
    expect(await store.openTransactions()).toHaveLength(1);
  });

  it("is not what engine.transaction repeats after a conflict", async () => {
    const { engine, clock } = harness([put]);
    let runs = 0;
    // The type leaves the request id out; a caller without types may still send one.
    const options = { requestId: "r", attempts: 3 } as { attempts: number };
    const running = engine.transaction(async (tx) => {
      runs += 1;
      await tx.step("put", { key: "k", value: runs });
      if (runs > 1) return;
      const other = await engine.begin();
      await other.step("put", { key: "k", value: "theirs" });
      await other.commit();
    }, options);
    await clock.advance(100);
    await running;
    expect(runs).toBe(2);
  });
});

describe("the lock of a transaction", () => {
  it("refuses a second operation that did not look", async () => {
    const lock = new OperationLock();
    const fields = { kind: "commit", step: 0, requestId: null } as const;
    const first = lock.run(fields, () => new Promise<void>((resolve) => setImmediate(resolve)));
    expect(() => lock.run(fields, async () => undefined)).toThrowError(
      expect.objectContaining({ code: "INTERNAL" }),
    );
    await first;
    expect(lock.running).toBe(null);
  });

  it("lets a settlement wait again when another one was quicker", async () => {
    const lock = new OperationLock();
    const alive = new KeepAlive();
    const engine = { closing: false, clock: new FakeClock(), open: new Map(), alive };
    const header = { status: "ACTIVE", pending: null };
    // The few members that a settlement of an active transaction looks at.
    const open = { id: "t", namespace: "", engine, lock, header, ended: null, fenced: false };
    const fields = { kind: "commit", step: 0, requestId: null } as const;
    const first = lock.run(fields, () => new Promise<void>((resolve) => setImmediate(resolve)));
    const settle = () => unfreezeOperation(open as unknown as OpenTransaction);
    expect(await Promise.all([settle(), settle(), first])).toEqual([true, true, undefined]);
    expect(lock.running).toBe(null);
  });
});

describe("the idle reaper", () => {
  it("has one timer, however often transactions begin while it reaps", async () => {
    const begins: Promise<unknown>[] = [];
    const observer = {
      onEvent({ kind }: { readonly kind: string }) {
        if (kind === "aborted") begins.push(engine.begin());
      },
    };
    const { engine, clock } = harness([echo], { idleTimeoutMs: 1_000, observer });
    await engine.begin();
    await clock.advance(500);
    const before = clock.pending;
    for (let round = 0; round < 5; round += 1) await clock.advance(1_000);
    await Promise.all(begins);
    expect(begins).toHaveLength(5);
    expect(clock.pending).toBe(before);
  });
});

describe("an observer that throws", () => {
  it("decides nothing", async () => {
    const observer = {
      onEvent() {
        throw new Error("The observer is broken.");
      },
    };
    const world = new World();
    const { engine } = harness([world.book(), world.mail(), echo], { observer });
    const tx = await engine.begin();
    expect(await tx.step("book", { item: "a" })).toMatchObject({ status: "SUCCESS" });
    expect(await tx.step("echo", { fail: "x" })).toMatchObject({ status: "ROLLBACK_TRIGGERED" });
    await tx.step("mail", { to: "ann" });
    expect(await tx.commit()).toMatchObject({ status: "COMMITTED" });
    expect(world.log).toContain("mail ann");
  });
});
