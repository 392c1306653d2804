// Goal: the journey of a step, there and back, through the public API on the memory store.
import { expect, it } from "vitest";
import { del, echo, get, harness, put, ref, World } from "./testing/harness.js";

it("publishes what its steps wrote when it commits, and nothing before", async () => {
  const { engine, store } = harness([put, get]);
  const tx = await engine.begin({ agentId: "a" });
  expect(await tx.step("put", { key: "k", value: 1 })).toMatchObject({
    status: "SUCCESS",
    step: 1,
    output: { key: "k" },
    nextStep: 2,
    repeated: false,
  });
  expect(await tx.step("get", { key: "k" })).toMatchObject({ output: { value: 1 } });
  expect(await store.get("k")).toBeNull();
  expect(await tx.commit()).toMatchObject({ status: "COMMITTED", stepsCommitted: 2 });
  expect(Buffer.from((await store.get("k")) ?? []).toString()).toBe("1");
});

it("jumps to the step that produced the blamed key", async () => {
  const { engine } = harness([put, echo]);
  const tx = await engine.begin();
  await tx.step("put", { key: "a", value: 1 });
  await tx.step("echo", { output: { customer_id: 90417 } });
  await tx.step("put", { key: "b", value: 1 });
  const failed = await tx.step("echo", {
    customer_id: ref(2, "customer_id"),
    fail: "violates foreign key constraint: Key (customer_id)=(90417) is not present",
  });
  expect(failed).toMatchObject({
    status: "ROLLBACK_TRIGGERED",
    step: 4,
    strategy: "DEPENDENCY_JUMP",
    rollbackToStep: 2,
    nextStep: 2,
    writesReverted: 1,
  });
  expect(tx.nextStep).toBe(2);
});

it("undoes effects after the target, newest first, and keeps those before it", async () => {
  const world = new World();
  const { engine } = harness([world.book(), echo]);
  const tx = await engine.begin({ policy: { maxLocalDepth: 2 } });
  await tx.step("book", { item: "a" });
  await tx.step("book", { item: "b" });
  await tx.step("book", { item: "c" });
  const outcome = await tx.step("echo", { fail: "no idea" });
  expect(outcome).toMatchObject({ strategy: "LOCAL_BACKTRACK", rollbackToStep: 3 });
  expect(world.log).toEqual(["do a", "do b", "do c", "undo c"]);
  await tx.abort();
  expect(world.log.slice(4)).toEqual(["undo b", "undo a"]);
});

it("delivers staged effects after the commit and drops them on rewind", async () => {
  const world = new World();
  const { engine } = harness([world.mail(), del]);
  const tx = await engine.begin();
  await tx.step("mail", { to: "x" });
  await tx.rollback(1);
  await tx.step("mail", { to: "y" });
  expect(world.log).toEqual([]);
  expect(await tx.commit()).toMatchObject({ effectsDispatched: 1, effectsPending: 0 });
  expect(world.log).toEqual(["mail y"]);
});
