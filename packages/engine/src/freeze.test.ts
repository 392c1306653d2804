// Goal: rules E5, E7, E8a. What cannot be undone freezes the transaction; a person's word thaws it.
import { describe, expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { echo, get, harness, put, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

/** Compensation refuses until `fixed`; every try is counted. */
function stubborn() {
  const state = { fixed: false, undone: 0, tries: 0 };
  const tool = defineTool({
    name: "stubborn",
    schema: fields({ item: "string" }),
    effect: "reversible",
    execute: ({ item }) => ({ item }),
    compensate() {
      state.tries += 1;
      if (!state.fixed) throw new Error("the other side is down");
      state.undone += 1;
    },
  });
  return { tool, state };
}

/** An effect whose fate nobody can tell. */
function silent() {
  return defineTool({
    name: "silent",
    schema: fields({}),
    effect: "reversible",
    deadlineMs: 10,
    execute: () => new Promise<null>(() => {}),
    compensate: () => {},
    lookup: () => ({ status: "unknown" as const }),
  });
}

const FAST = { effects: { inlineTries: 1 } } as const;

async function finish<T>(clock: { advance(ms: number): Promise<void> }, work: Promise<T>) {
  let done = false;
  const watched = work.finally(() => {
    done = true;
  });
  watched.catch(() => {});
  for (let turn = 0; turn < 200 && !done; turn += 1) await clock.advance(1_000);
  return watched;
}

describe("an undo that stays unresolved (E8a)", () => {
  it("freezes: steps and commit are refused, state stays, abort is allowed", async () => {
    const { tool } = stubborn();
    const { engine, clock } = harness([tool, put, echo], FAST);
    const tx = await engine.begin();
    await tx.step("stubborn", { item: "a" });
    await tx.step("put", { key: "k", value: 1 });
    const outcome = await finish(clock, tx.rollback(1));
    expect(outcome).toMatchObject({ rolledBack: false, status: "FROZEN", nextStep: 0 });
    expect(outcome.unresolvedEffects).toEqual([`${tx.id}/1`]);
    expect(tx).toMatchObject({ status: "FROZEN", nextStep: 0 });
    const frozen = { code: "TRANSACTION_FROZEN" };
    await expect(tx.step("put", { key: "k", value: 2 })).rejects.toMatchObject(frozen);
    await expect(tx.commit()).rejects.toMatchObject(frozen);
    await expect(tx.rollback(1)).rejects.toMatchObject(frozen);
    const ended = await finish(clock, tx.abort());
    expect(ended).toMatchObject({ rolledBack: false, status: "ROLLED_BACK" });
    expect(await engine.unresolved()).toMatchObject([{ effectId: `${tx.id}/1` }]);
  });

  it("answers RECONCILIATION_REQUIRED and thaws at the decided step", async () => {
    const { tool, state } = stubborn();
    const { engine, clock, events } = harness([tool, put, get, echo], FAST);
    const tx = await engine.begin();
    await tx.step("put", { key: "k", value: 1 });
    await tx.step("stubborn", { item: "a" });
    const failed = await finish(clock, tx.step("echo", { fail: "no idea" }));
    expect(failed).toMatchObject({
      status: "FAILED",
      abortReason: "RECONCILIATION_REQUIRED",
      transactionStatus: "FROZEN",
      nextStep: 0,
      unresolvedEffects: [`${tx.id}/1`],
    });
    const note = { kind: "compensated-by-hand", actor: "ann", note: "by phone" } as const;
    await finish(clock, engine.resolveEffect(`${tx.id}/1`, note));
    expect(tx).toMatchObject({ status: "ACTIVE", nextStep: 2 });
    expect(events.map(({ kind }) => kind)).toContain("unfrozen");
    expect(await tx.step("get", { key: "k" })).toMatchObject({ output: { value: 1 } });
    expect(state.undone).toBe(0);
    await tx.commit();
  });

  it("is retried by request, and goes on when that works", async () => {
    const { tool, state } = stubborn();
    const { engine, clock } = harness([tool], FAST);
    const tx = await engine.begin();
    await tx.step("stubborn", { item: "a" });
    await finish(clock, tx.rollback(1));
    state.fixed = true;
    await finish(clock, engine.retryEffect(`${tx.id}/1`, { actor: "ann" }));
    expect(state.undone).toBe(1);
    expect(tx).toMatchObject({ status: "ACTIVE", nextStep: 1 });
  });

  it("stays frozen over a restart, and thaws there", async () => {
    const { tool } = stubborn();
    const { engine, clock, restart } = harness([tool], FAST);
    const tx = await engine.begin();
    await tx.step("stubborn", { item: "a" });
    await finish(clock, tx.rollback(1));
    const later = await restart();
    const report = await finish(clock, later.recover());
    expect(report).toMatchObject({ frozen: [tx.id], rolledBack: 0 });
    const note = { kind: "accepted-as-is", actor: "ann", note: "so be it" } as const;
    await finish(clock, later.resolveEffect(`${tx.id}/1`, note));
    expect(await later.get(tx.id)).toMatchObject({ status: "ACTIVE", nextStep: 1 });
  });
});

describe("an effect nobody knows the fate of (E5)", () => {
  it("freezes before any decision, and is decided when it is known", async () => {
    const { engine, clock } = harness([silent(), put], FAST);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    const outcome = await finish(clock, tx.step("silent", {}, { requestId: "r1" }));
    expect(outcome).toMatchObject({
      status: "FAILED",
      transactionStatus: "FROZEN",
      decision: null,
      abortReason: "RECONCILIATION_REQUIRED",
    });
    const note = { kind: "did-not-happen", actor: "ann", note: "asked them" } as const;
    await finish(clock, engine.resolveEffect(`${tx.id}/1`, note));
    expect(tx).toMatchObject({ status: "ACTIVE", nextStep: 1 });
    const decided = (await tx.history()).filter(({ kind }) => kind === "decision");
    expect(decided).toMatchObject([{ step: 2, decision: { strategy: "LOCAL_BACKTRACK" } }]);
    expect(await tx.step("silent", {}, { requestId: "r1" })).toMatchObject({
      transactionStatus: "FROZEN",
      repeated: true,
    });
  });
});

describe("a partial effect (E4)", () => {
  it("of the failing step is undone with it", async () => {
    const world = new World();
    const { engine } = harness([world.book()]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    await tx.step("book", { item: "b" });
    await tx.step("book", { item: "c", mode: "half" });
    expect(world.log).toEqual(["do a", "do b", "do c", "undo c", "undo b"]);
  });
});
