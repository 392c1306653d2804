// Goal: the store is reopened under a living engine (S10): what is on disk is the truth, and the
// handles that users hold go on.
import { AgentTxError } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { failNth, faultyStore } from "./testing/faulty-store.js";
import { echo, get, harness, put, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

it("goes on with the next step, and knows what stood before", async () => {
  const world = new World();
  const { engine, store } = harness([world.book(), put, get]);
  const tx = await engine.begin();
  await tx.step("book", { item: "a" });
  await tx.step("put", { key: "k", value: 1 });
  await store.reopen();
  expect(await tx.step("get", { key: "k" })).toMatchObject({ step: 3, output: { value: 1 } });
  await store.reopen();
  expect(await tx.rollback(1)).toMatchObject({ rolledBack: true, writesReverted: 1 });
  expect(world.log).toEqual(["do a", "undo a"]);
  await store.reopen();
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 0 });
});

it("aborts a transaction whose infrastructure keeps failing (R9)", async () => {
  const faulty = faultyStore(openMemoryStore());
  const options = { store: faulty.store, infrastructureFailuresMax: 2 };
  const { engine } = harness([put], options);
  const tx = await engine.begin();
  const full = new AgentTxError("RESOURCE_EXHAUSTED", "The disk is full.");
  faulty.hook = () => full;
  for (let n = 0; n < 3; n += 1) {
    await expect(tx.step("put", { key: "k", value: n })).rejects.toBe(full);
  }
  faulty.hook = null;
  await expect(tx.step("put", { key: "k", value: 9 })).rejects.toMatchObject({
    code: "TRANSACTION_ENDED",
    details: { status: "FAILED", reason: "INFRASTRUCTURE_FAILURES" },
  });
});

it("learns from the terminal record that an interrupted commit was none", async () => {
  const faulty = faultyStore(openMemoryStore());
  const { engine, store } = harness([put], { store: faulty.store });
  const tx = await engine.begin();
  await tx.step("put", { key: "k", value: 1 });
  faulty.hook = failNth(1, new AgentTxError("OUTCOME_UNKNOWN", "The write failed half-way."));
  await expect(tx.commit()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  await store.reopen();
  expect(await tx.step("put", { key: "k", value: 2 })).toMatchObject({ step: 2 });
  await tx.commit();
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 2 });
});

it("tells of a commit whose answer it had lost, once it has learnt of it", async () => {
  const faulty = faultyStore(openMemoryStore());
  const { engine, events, store } = harness([put], { store: faulty.store });
  const tx = await engine.begin();
  await tx.step("put", { key: "k", value: 1 });
  // The batch is written; its answer is not.
  faulty.hookAfter = () => new AgentTxError("OUTCOME_UNKNOWN", "The write failed half-way.");
  await expect(tx.commit()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  faulty.hookAfter = null;
  await store.reopen();
  const ends = () => events.filter(({ kind }) => kind === "committed").length;
  expect(ends()).toBe(0);
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 1 });
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 1 });
  expect(ends()).toBe(1);
});

it("goes on although an undo is unresolved, when it is told to (E8a)", async () => {
  const broken = defineTool({
    name: "broken",
    schema: fields({}),
    effect: "reversible",
    execute: () => null,
    compensate() {
      throw new Error("the other side is down");
    },
  });
  const { engine } = harness([broken, echo], {
    onUnresolved: "continue",
    effects: { inlineTries: 1 },
  });
  const tx = await engine.begin();
  await tx.step("broken", {});
  expect(await tx.rollback(1)).toMatchObject({
    rolledBack: false,
    status: "ACTIVE",
    nextStep: 1,
    unresolvedEffects: [`${tx.id}/1`],
  });
  expect(await engine.unresolved()).toHaveLength(1);
  await expect(tx.commit()).rejects.toMatchObject({ code: "RECONCILIATION_REQUIRED" });
});
