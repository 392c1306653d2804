// Goal: rules P1-P3. A request that was seen runs nothing again, whatever happened in between.
import { describe, expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { echo, harness, put } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

function counting() {
  let runs = 0;
  let release = (): void => {};
  const tool = defineTool({
    name: "count",
    schema: fields({ n: "number", wait: "boolean?" }),
    effect: "reversible",
    scope: "store",
    async execute({ n, wait }, { state }) {
      runs += 1;
      if (wait === true) await new Promise<void>((resolve) => (release = resolve));
      state.put("n", Buffer.from(String(n)));
      return { n, runs };
    },
  });
  return { tool, runs: () => runs, release: () => release() };
}

describe("a repeated request id (P1)", () => {
  it("returns the stored answer and runs nothing, also after a restart", async () => {
    const { tool, runs } = counting();
    const { engine, restart } = harness([tool]);
    const tx = await engine.begin();
    const first = await tx.step("count", { n: 1 }, { requestId: "r1" });
    const again = await tx.step("count", { n: 1 }, { requestId: "r1" });
    expect(again).toEqual({ ...first, repeated: true });
    await engine.close();
    const later = await (await restart()).resume(tx.id);
    expect(await later.step("count", { n: 1 }, { requestId: "r1" })).toEqual(again);
    expect(runs()).toBe(1);
  });

  it("is told that it was undone, also after a restart, and is not run", async () => {
    const { tool, runs } = counting();
    const { engine, restart } = harness([tool]);
    const tx = await engine.begin();
    await tx.step("count", { n: 1 }, { requestId: "r1" });
    await tx.rollback(1);
    const undone = { code: "REQUEST_UNDONE" };
    await expect(tx.step("count", { n: 1 }, { requestId: "r1" })).rejects.toMatchObject(undone);
    await tx.step("count", { n: 1 }, { requestId: "r2" });
    await expect(tx.step("count", { n: 1 }, { requestId: "r1" })).rejects.toMatchObject(undone);
    await engine.close();
    const later = await (await restart()).resume(tx.id);
    await expect(later.step("count", { n: 1 }, { requestId: "r1" })).rejects.toMatchObject(undone);
    expect(runs()).toBe(2);
  });

  it("with other content, another step or another operation is refused", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 }, { requestId: "r1" });
    const reused = { code: "REQUEST_ID_REUSED", details: { requestId: "r1" } };
    const call = { key: "a", value: 2 };
    await expect(tx.step("put", call, { requestId: "r1" })).rejects.toMatchObject(reused);
    await expect(tx.rollback(1, { requestId: "r1" })).rejects.toMatchObject(reused);
    const stepId = { requestId: "r1", stepId: 2 };
    await expect(tx.step("put", { key: "a", value: 1 }, stepId)).rejects.toMatchObject(reused);
  });

  it("returns the stored failure with its decision", async () => {
    const { engine } = harness([echo]);
    const tx = await engine.begin();
    const failed = await tx.step("echo", { fail: "broken" }, { requestId: "r1" });
    const again = await tx.step("echo", { fail: "broken" }, { requestId: "r1" });
    expect(again).toMatchObject({ status: "ROLLBACK_TRIGGERED", repeated: true });
    expect(failed).toMatchObject({ repeated: false });
    expect((await tx.history()).filter(({ kind }) => kind === "failed")).toHaveLength(1);
  });

  it("still returns the output after the commit", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 }, { requestId: "r1" });
    await tx.step("put", { key: "a", value: 2 });
    await tx.commit();
    expect(await tx.step("put", { key: "a", value: 1 }, { requestId: "r1" })).toMatchObject({
      status: "SUCCESS",
      output: { key: "a" },
      repeated: true,
    });
  });

  it.each(["", "x".repeat(129), "a\u0000b"])("is refused when it is %j", async (requestId) => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    await expect(
      (async () => tx.step("put", { key: "a", value: 1 }, { requestId }))(),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT", details: { field: "requestId" } });
    expect(tx.nextStep).toBe(1);
  });
});

describe("without a request id (P1)", () => {
  it("answers the last step again when number and content are equal", async () => {
    const { tool, runs } = counting();
    const { engine } = harness([tool]);
    const tx = await engine.begin();
    await tx.step("count", { n: 1 }, { stepId: 1 });
    expect(await tx.step("count", { n: 1 }, { stepId: 1 })).toMatchObject({
      step: 1,
      nextStep: 2,
      repeated: true,
    });
    expect(runs()).toBe(1);
  });

  it("answers the last failure again when number and content are equal", async () => {
    const { engine } = harness([echo, put]);
    const tx = await engine.begin();
    for (const key of ["a", "b"]) await tx.step("put", { key, value: 0 });
    await tx.step("echo", { fail: "broken" }, { stepId: 3 });
    expect(tx.nextStep).toBe(2);
    expect(await tx.step("echo", { fail: "broken" }, { stepId: 3 })).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
      nextStep: 2,
      repeated: true,
    });
    await tx.step("put", { key: "b", value: 1 }, { stepId: 2 });
    expect(await tx.step("echo", { fail: "broken" }, { stepId: 3 })).toMatchObject({
      repeated: false,
    });
  });

  it("refuses another number with the expected one", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    for (const stepId of [1, 3]) {
      await expect(tx.step("put", { key: "a", value: 9 }, { stepId })).rejects.toMatchObject({
        code: "STEP_OUT_OF_ORDER",
        details: { given: stepId, expected: 2 },
      });
    }
  });
});

describe("two at once (P3)", () => {
  it("joins an equal request and refuses another", async () => {
    const { tool, runs, release } = counting();
    const { engine } = harness([tool]);
    const tx = await engine.begin();
    const first = tx.step("count", { n: 1, wait: true }, { requestId: "r1" });
    const joined = tx.step("count", { n: 1, wait: true }, { requestId: "r1" });
    await expect(tx.step("count", { n: 1 }, { requestId: "r2" })).rejects.toMatchObject({
      code: "STEP_IN_PROGRESS",
    });
    await expect(tx.step("count", { n: 2 }, { requestId: "r1" })).rejects.toMatchObject({
      code: "REQUEST_ID_REUSED",
    });
    await expect(tx.commit()).rejects.toMatchObject({ code: "STEP_IN_PROGRESS" });
    await expect(tx.rollback(1)).rejects.toMatchObject({ code: "STEP_IN_PROGRESS" });
    await new Promise((resolve) => setImmediate(resolve));
    release();
    expect(await joined).toEqual({ ...(await first), repeated: true });
    expect(runs()).toBe(1);
  });
});
