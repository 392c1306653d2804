// Goal: rules about steps, keys and undo that no other test names: E1a, E1b, E3, P6, P8, C13.
import type { JsonValue } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { createEngine } from "./engine.js";
import { faultyStore } from "./testing/faulty-store.js";
import { echo, get, harness, put, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

it("writes a store-scoped step in one batch, with no intent and no ledger record (E1a)", async () => {
  const faulty = faultyStore(openMemoryStore());
  const { engine } = harness([put], { store: faulty.store });
  const tx = await engine.begin();
  const batches: string[] = [];
  faulty.hook = (call) => {
    batches.push(call);
    return null;
  };
  await tx.step("put", { key: "k", value: 1 });
  expect(batches).toEqual(["apply"]);
  expect(await engine.effects(tx.id)).toEqual([]);
});

it("takes an undo as data that names a declared action, never as a closure (E1b)", async () => {
  const refusals: unknown[] = [];
  const tool = defineTool({
    name: "tool",
    schema: fields({}),
    effect: "reversible",
    undo: { close: () => undefined },
    async execute(_args, { registerUndo }) {
      // What a caller without types could hand over.
      const closure = (() => undefined) as unknown as JsonValue;
      await registerUndo("close", closure).catch((error: unknown) => refusals.push(error));
      return null;
    },
  });
  const { engine } = harness([tool]);
  const tx = await engine.begin();
  expect(await tx.step("tool", {})).toMatchObject({ status: "ROLLBACK_TRIGGERED" });
  expect(refusals).toMatchObject([{ code: "INVALID_ARGUMENT" }]);
});

it("keeps the key within an attempt group and changes it after a rewind (E3)", async () => {
  const keys: string[] = [];
  const flaky = defineTool({
    name: "flaky",
    schema: fields({}),
    effect: "reversible",
    retry: 2,
    execute(_args, { idempotencyKey }) {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new Error("503 Service Unavailable");
      return null;
    },
    compensate() {},
  });
  const { engine, clock } = harness([flaky]);
  const tx = await engine.begin();
  const first = tx.step("flaky", {});
  await clock.advance(60_000);
  expect(await first).toMatchObject({ status: "SUCCESS" });
  await tx.rollback(1);
  await tx.step("flaky", {});
  expect(keys).toHaveLength(3);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

it("numbers read-only calls too, and no failed one (P6)", async () => {
  const { engine } = harness([get, echo]);
  const tx = await engine.begin();
  expect(await tx.step("get", { key: "k" })).toMatchObject({ step: 1, nextStep: 2 });
  expect(await tx.step("get", { key: "k" })).toMatchObject({ step: 2, nextStep: 3 });
  await tx.step("echo", { fail: "x" });
  expect(tx.nextStep).toBeLessThanOrEqual(3);
  const next = tx.nextStep;
  expect(await tx.step("echo", { output: 1 })).toMatchObject({ step: next });
});

it("makes ids itself, in the order of begin (P8)", async () => {
  const engine = createEngine({ store: openMemoryStore(), tools: [echo] });
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push((await engine.begin()).id);
  expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id))).toBe(true);
  expect([...ids].sort()).toEqual(ids);
  await engine.close();
});

it("explains what happened from the audit alone and calls no tool (C13)", async () => {
  const world = new World();
  const { engine, restart } = harness([world.book(), echo]);
  const tx = await engine.begin();
  await tx.step("book", { item: "a" });
  await tx.step("echo", { fail: "x" });
  await tx.abort();
  const called = [...world.log];
  const history = await (await restart({ tools: [] as never })).history(tx.id);
  expect(history.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["step", "decision"]));
  expect(world.log).toEqual(called);
});
