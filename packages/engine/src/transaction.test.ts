// Goal: engine.transaction, conflicts, the reaper, reported failures, history, limits, retention.
import { AgentTxError } from "@agenttx/model";
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { createEngine } from "./engine.js";
import { echo, get, harness, put, ref, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

describe("engine.transaction", () => {
  it("commits and returns what the function returned", async () => {
    const { engine, store } = harness([put]);
    const value = await engine.transaction(async (tx) => {
      await tx.step("put", { key: "k", value: 1 });
      return 42;
    });
    expect(value).toBe(42);
    expect(await store.get("k")).not.toBeNull();
  });

  it("aborts and throws on when the function throws", async () => {
    const world = new World();
    const { engine, store } = harness([world.book()]);
    const boom = new Error("boom");
    const run = engine.transaction(async (tx) => {
      await tx.step("book", { item: "a" });
      throw boom;
    });
    await expect(run).rejects.toBe(boom);
    expect(world.log).toEqual(["do a", "undo a"]);
    expect(await store.openTransactions()).toEqual([]);
  });

  it("runs again after a write conflict, with its effects undone in between", async () => {
    const world = new World();
    const { engine, store, clock } = harness([world.book(), put, get]);
    let runs = 0;
    const run = engine.transaction(async (tx) => {
      runs += 1;
      await tx.step("get", { key: "k" });
      await tx.step("put", { key: "k", value: runs });
      await tx.step("book", { item: "a" });
      if (runs === 1) {
        await engine.transaction(async (other) => {
          await other.step("put", { key: "k", value: "other" });
        });
      }
    });
    await clock.advance(1_000);
    await run;
    expect(runs).toBe(2);
    expect(world.log).toEqual(["do a", "undo a", "do a"]);
    expect(Buffer.from((await store.get("k")) ?? []).toString()).toBe("2");
  });

  it("gives up after the attempts it was given", async () => {
    const { engine, clock } = harness([put]);
    let runs = 0;
    const run = engine.transaction(
      async (tx) => {
        runs += 1;
        await tx.step("put", { key: "k", value: runs });
        await engine.transaction(async (other) => {
          await other.step("put", { key: "k", value: "other" });
        });
      },
      { attempts: 3 },
    );
    run.catch(() => {});
    await clock.advance(10_000);
    await expect(run).rejects.toMatchObject({ code: "WRITE_CONFLICT", details: { keys: ["k"] } });
    expect(runs).toBe(3);
  });

  it("lets the function end the transaction itself", async () => {
    const { engine, store } = harness([put]);
    const kept = await engine.transaction(async (tx) => {
      await tx.step("put", { key: "k", value: 1 });
      await tx.abort();
      return "aborted";
    });
    expect(kept).toBe("aborted");
    expect(await store.get("k")).toBeNull();
  });
});

describe("a write conflict at commit (P7)", () => {
  it("throws, writes nothing and leaves the transaction open to be aborted", async () => {
    const { engine, store, events } = harness([put]);
    const [one, other] = [await engine.begin(), await engine.begin()];
    await one.step("put", { key: "k", value: 1 });
    await other.step("put", { key: "k", value: 2 });
    await other.commit();
    await expect(one.commit()).rejects.toMatchObject({ code: "WRITE_CONFLICT" });
    expect(one.status).toBe("ACTIVE");
    expect(events.map(({ kind }) => kind)).toContain("conflict");
    expect(await one.abort()).toMatchObject({ rolledBack: true });
    expect(Buffer.from((await store.get("k")) ?? []).toString()).toBe("2");
  });
});

describe("the idle reaper (P4)", () => {
  it("aborts and compensates what nobody touched, and leaves what is in use", async () => {
    const world = new World();
    const { engine, clock } = harness([world.book(), put], { idleTimeoutMs: 60_000 });
    const [idle, used] = [await engine.begin(), await engine.begin()];
    await idle.step("book", { item: "a" });
    await clock.advance(40_000);
    await used.step("put", { key: "k", value: 1 });
    await clock.advance(30_000);
    expect(idle.status).toBe("ROLLED_BACK");
    expect(world.log).toEqual(["do a", "undo a"]);
    expect(await engine.get(idle.id)).toMatchObject({ abortReason: "IDLE_TIMEOUT" });
    expect(used.status).toBe("ACTIVE");
    await clock.advance(60_000);
    expect(used.status).toBe("ROLLED_BACK");
  });

  it("does not count a running step as idle", async () => {
    let release = (): void => {};
    const slow = defineTool({
      name: "slow",
      schema: fields({}),
      effect: "read-only",
      deadlineMs: 1_000_000,
      execute: () => new Promise<null>((resolve) => (release = () => resolve(null))),
    });
    const { engine, clock } = harness([slow], { idleTimeoutMs: 60_000 });
    const tx = await engine.begin();
    const running = tx.step("slow", {});
    await clock.advance(150_000);
    expect(tx.status).toBe("EXECUTING");
    release();
    expect(await running).toMatchObject({ status: "SUCCESS" });
  });

  it("never does it when the timeout is 0", async () => {
    const { engine, clock } = harness([put], { idleTimeoutMs: 0 });
    const tx = await engine.begin();
    await clock.advance(3_600_000);
    expect(tx.status).toBe("ACTIVE");
  });
});

describe("abort during a step (P5)", () => {
  it("stops it, ignores its late answer and undoes the rest", async () => {
    const world = new World();
    let answer = (_value: null): void => {};
    const deaf = defineTool({
      name: "deaf",
      schema: fields({}),
      effect: "read-only",
      execute: () => new Promise<null>((resolve) => (answer = resolve)),
    });
    const { engine } = harness([world.book(), deaf]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    const running = tx.step("deaf", {});
    running.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    const outcome = await tx.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    answer(null);
    expect(outcome).toMatchObject({ rolledBack: true, compensationsRun: 1 });
    expect(world.log).toEqual(["do a", "undo a"]);
  });
});

describe("a failure reported later (R9a)", () => {
  it("jumps to the producer and rewinds everything from there", async () => {
    const { engine } = harness([echo, put]);
    const tx = await engine.begin();
    await tx.step("echo", { output: { customer_id: 5 } });
    await tx.step("echo", { customer_id: ref(1, "customer_id") });
    await tx.step("put", { key: "k", value: 1 });
    const outcome = await tx.reportFailure(2, { key: "customer_id", text: "wrong customer" });
    expect(outcome).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
      strategy: "DEPENDENCY_JUMP",
      step: 2,
      rollbackToStep: 1,
      writesReverted: 1,
    });
    expect(tx.nextStep).toBe(1);
    await expect(tx.reportFailure(2, { text: "again" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("history", () => {
  it("says what ran, what was undone and why, from the audit alone", async () => {
    const { engine } = harness([put, echo]);
    const tx = await engine.begin({ agentId: "planner" });
    await tx.step("put", { key: "k", value: 1 });
    await tx.step("put", { key: "k", value: 2 });
    await tx.step("echo", { fail: "no idea" });
    await tx.step("put", { key: "k", value: 3 });
    await tx.commit();
    const told = (await tx.history()).map((entry) =>
      entry.kind === "step"
        ? `${entry.step}:${JSON.stringify(entry.arguments)}${entry.undoneBy === null ? "" : " undone"}`
        : entry.kind,
    );
    expect(told).toEqual([
      "began",
      '1:{"key":"k","value":1}',
      '2:{"key":"k","value":2} undone',
      "failed",
      "decision",
      "rewound",
      '2:{"key":"k","value":3}',
      "committed",
    ]);
  });
});

describe("constraints and context (E10)", () => {
  it("survive rewinds and resets, without duplicates; the context is cleared by a reset", async () => {
    const { engine } = harness([put, echo], { policy: { maxLocalDepth: 0, maxGlobalResets: 2 } });
    const tx = await engine.begin();
    await tx.step("put", { key: "k", value: 1 }, { rawContext: "thought one" });
    expect((await tx.view()).context).toEqual([
      { step: 1, tool: "put", rawContext: "thought one" },
    ]);
    const reset = await tx.step("nope", {});
    expect(reset).toMatchObject({ strategy: "GLOBAL_RESET", contextReset: true, nextStep: 1 });
    expect(reset.constraints).toHaveLength(1);
    await tx.step("put", { key: "k", value: 1 });
    expect((await tx.step("nope", {})).constraints).toHaveLength(1);
    expect(await tx.view()).toMatchObject({ context: [], globalResets: 2 });
  });

  it("ends with FAILED after the last reset, and everything is gone", async () => {
    const world = new World();
    const { engine, store } = harness([world.book(), put], {
      policy: { maxLocalDepth: 0, maxGlobalResets: 0 },
    });
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    await tx.step("put", { key: "k", value: 1 });
    expect(await tx.step("nope", {})).toMatchObject({
      status: "FAILED",
      strategy: "ABORT",
      nextStep: 0,
      transactionStatus: "FAILED",
      abortReason: "REPLAY_LIMIT_REACHED",
      compensationsRun: 1,
    });
    expect(world.log).toEqual(["do a", "undo a"]);
    expect(await store.openTransactions()).toEqual([]);
    await expect(tx.commit()).rejects.toMatchObject({
      code: "TRANSACTION_ENDED",
      details: { status: "FAILED", reason: "REPLAY_LIMIT_REACHED" },
    });
  });
});

describe("retention (C10)", () => {
  it("removes what has expired, and the terminal answer becomes NOT_FOUND", async () => {
    const { engine, clock } = harness([put], { retention: 1_000 });
    const tx = await engine.begin();
    await tx.step("put", { key: "k", value: 1 }, { requestId: "r1" });
    await tx.commit();
    expect(await engine.removeExpired()).toEqual({
      looked: 1,
      removed: 0,
      kept: 0,
      held: 0,
      auditErased: 0,
    });
    await clock.advance(1_001);
    expect(await engine.removeExpired()).toEqual({
      looked: 1,
      removed: 1,
      kept: 0,
      held: 0,
      auditErased: 0,
    });
    await expect(engine.get(tx.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("never removes what is unresolved", async () => {
    const broken = defineTool({
      name: "broken",
      schema: fields({}),
      effect: "reversible",
      execute: () => null,
      compensate() {
        throw new Error("no");
      },
    });
    const { engine, clock } = harness([broken], { retention: 1, effects: { inlineTries: 1 } });
    const tx = await engine.begin();
    await tx.step("broken", {});
    await tx.abort();
    await clock.advance(1_000);
    expect(await engine.removeExpired()).toMatchObject({ removed: 0, kept: 1 });
    expect(await engine.get(tx.id)).toMatchObject({ unresolvedEffects: [`${tx.id}/1`] });
  });
});

describe("lists", () => {
  it("pages through open and ended transactions in the order of their ids", async () => {
    const { engine } = harness([put]);
    const all = [];
    for (let n = 0; n < 5; n += 1) all.push(await engine.begin());
    await all[1]?.commit();
    await all[3]?.abort();
    const first = await engine.list({ limit: 3 });
    const rest = await engine.list({ limit: 3, after: first.at(-1)?.id ?? "" });
    expect([...first, ...rest].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect((await engine.list({ status: "COMMITTED" })).map(({ id }) => id)).toEqual([all[1]?.id]);
    expect(await engine.list({ status: "ACTIVE" })).toHaveLength(3);
  });

  it("show nothing of another namespace", async () => {
    const { engine, store } = harness([put]);
    const tx = await engine.begin({ namespace: "acme" });
    await tx.step("put", { key: "k", value: 1 });
    await tx.commit();
    expect(await engine.list()).toEqual([]);
    expect(await engine.list({ namespace: "acme" })).toHaveLength(1);
    expect(await store.get("k")).toBeNull();
    expect(await store.get("k", { namespace: "acme" })).not.toBeNull();
  });
});

describe("misuse", () => {
  it("is refused before anything is begun", async () => {
    const { engine, store } = harness([put]);
    const invalid = { code: "INVALID_ARGUMENT" };
    await expect(engine.begin({ agentId: "x".repeat(257) })).rejects.toMatchObject(invalid);
    await expect(engine.begin({ policy: { maxLocalDepth: 17 } })).rejects.toMatchObject(invalid);
    const metadata = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, "v"]));
    await expect(engine.begin({ metadata })).rejects.toMatchObject(invalid);
    expect(await store.openTransactions()).toEqual([]);
  });

  it("of tools is refused at registration (E1)", () => {
    const { store } = harness([put]);
    const bad = { ...put, effect: undefined } as unknown as typeof put;
    expect(() => createEngine({ store, tools: [bad] })).toThrowError(AgentTxError);
    expect(() => createEngine({ store, tools: [put, put] })).toThrowError(/Two tools/);
    expect(() =>
      defineTool({ name: "x", schema: fields({}), effect: "reversible", execute: () => null }),
    ).toThrowError(/compensate/);
  });

  it("after close is refused", async () => {
    const { engine } = harness([put]);
    await engine.close();
    await engine.close();
    await expect(engine.begin()).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("leaving a scope without a commit aborts", async () => {
    const world = new World();
    const { engine } = harness([world.book()]);
    {
      await using tx = await engine.begin();
      await tx.step("book", { item: "a" });
    }
    expect(world.log).toEqual(["do a", "undo a"]);
  });
});

it("carries the tools' types to the step", async () => {
  const { engine } = harness([put, get]);
  const tx = await engine.begin();
  const outcome = await tx.step("put", { key: ref(1, "x"), value: 1 }).catch(() => null);
  if (outcome?.status === "SUCCESS") expectTypeOf(outcome.output).toEqualTypeOf<{ key: string }>();
  // @ts-expect-error: a key is text
  void tx.step("put", { key: 1, value: 1 }).catch(() => null);
  // @ts-expect-error: the key is missing
  void tx.step("get", {}).catch(() => null);
  await tx.abort();
});
