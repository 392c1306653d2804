// Goal: rule C8 with several engines in one process: what another one works on is not left over.
// Method: two engines on one memory store; several Stores and threads: test/engine/two-engines.
import { expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { createEngine } from "./engine.js";
import { harness, put } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

function twoEngines(idleTimeoutMs = 0) {
  const first = harness([put]);
  const { store, clock } = first;
  const second = createEngine({ store, clock, tools: [put], idleTimeoutMs });
  return { ...first, first: first.engine, second };
}

it("leaves alone what another engine on the store has begun", async () => {
  const { first, second } = twoEngines();
  const tx = await first.begin();
  await tx.step("put", { key: "a", value: 1 });
  expect(await second.recover()).toMatchObject({ found: 0, rolledBack: 0, done: true });
  await tx.step("put", { key: "b", value: 2 });
  expect(await tx.commit()).toMatchObject({ status: "COMMITTED", stepsCommitted: 2 });
});

it("leaves alone what another engine on the store is taking up", async () => {
  const { first, second, store } = twoEngines();
  const tx = await first.begin();
  await tx.step("put", { key: "a", value: 1 });
  await store.reopen();
  const reports = await Promise.all([
    second.recover({ resume: true }),
    createEngine({ store, tools: [put] }).recover(),
  ]);
  const [found, resumed, rolledBack] = (["found", "resumed", "rolledBack"] as const).map((name) =>
    reports.reduce((sum, report) => sum + report[name], 0),
  );
  expect({ found, taken: (resumed ?? 0) + (rolledBack ?? 0) }).toEqual({ found: 1, taken: 1 });
});

it("takes up what an engine has left that was closed", async () => {
  const { first, second } = twoEngines();
  const tx = await first.begin();
  await tx.step("put", { key: "a", value: 1 });
  await first.close();
  expect(await second.recover()).toMatchObject({ found: 1, resumed: 1 });
  const resumed = await second.resume(tx.id);
  expect(await resumed.commit()).toMatchObject({ stepsCommitted: 1 });
});

it("does not end what was idle here and is worked on elsewhere", async () => {
  const { first, second, store, clock } = twoEngines(1_000);
  const tx = await first.begin();
  await tx.step("put", { key: "a", value: 1 });
  await first.close();
  await second.recover();
  const third = createEngine({ store, clock, tools: [put], idleTimeoutMs: 0 });
  const resumed = await third.resume(tx.id);
  await clock.advance(5_000);
  expect(await resumed.step("put", { key: "b", value: 2 })).toMatchObject({ status: "SUCCESS" });
  expect(await resumed.commit()).toMatchObject({ stepsCommitted: 2 });
});

it("undoes what was left open once, however many engines find it", async () => {
  let closed = true;
  const calls: (() => void)[] = [];
  const hire = defineTool({
    name: "hire",
    schema: fields({}),
    effect: "reversible",
    execute: () => ({}),
    compensate() {
      if (closed) throw new Error("closed");
      return new Promise<void>((done) => calls.push(done));
    },
  });
  const { engine, store, clock } = harness([hire], { effects: { inlineTries: 1 } });
  const others = [1, 2, 3].map(() => createEngine({ store, clock, tools: [hire] }));
  const tx = await engine.begin();
  await tx.step("hire", {});
  await tx.abort();
  expect(await engine.unresolved()).toHaveLength(1);
  closed = false;
  // Their backgrounds begin to look now, and look again while the first one waits for the answer.
  for (const other of others) await other.recover();
  await clock.advance(20_000);
  expect(calls).toHaveLength(1);
  for (const answer of calls) answer();
  await clock.advance(20_000);
  expect(await engine.unresolved()).toEqual([]);
  expect(calls).toHaveLength(1);
});
