// Goal: bug reports 29 and 31. Undo follows the order of the journal, never a clock, and a chain of
// create, update, delete on one key ends in absence.
import { defineTool } from "@agenttx/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DRIVERS, start } from "./drivers.js";
import { decoded, kv } from "./tools.js";

const increment = defineTool({
  name: "increment",
  schema: z.strictObject({ by: z.array(z.number()) }),
  effect: "reversible",
  scope: "store",
  async execute({ by }, { state }) {
    for (const amount of by) {
      const before = (decoded(await state.get("k")) ?? 0) as number;
      state.put("k", Buffer.from(JSON.stringify(before + amount)));
    }
    return decoded(await state.get("k")) as number;
  },
});

describe.each(DRIVERS)("on $name", (driver) => {
  it("29: ten changes of one key in one millisecond undo to the start value", async () => {
    const { engine, store } = await start(driver, [increment, ...kv]);
    await engine.transaction(async (tx) => {
      await tx.step("kv.put", { key: "k", value: 100 });
    });
    const tx = await engine.begin();
    for (let n = 1; n <= 10; n += 1) {
      expect(await tx.step("increment", { by: [n, n] })).toMatchObject({ status: "SUCCESS" });
    }
    for (const target of [10, 7, 7, 2]) {
      await tx.rollback(target);
      const expected = 100 + (target - 1) * target;
      expect(await tx.step("kv.get", { key: "k" })).toMatchObject({ output: { value: expected } });
    }
    expect(await tx.rollback(1)).toMatchObject({ rolledBack: true, compensationErrors: [] });
    await tx.commit();
    expect(decoded(await store.get("k"))).toBe(100);
  });

  it("31: a key put three times, in three steps or in one, undoes to absence", async () => {
    const { engine } = await start(driver, [increment, ...kv]);
    const tx = await engine.begin();
    for (const value of [1, 2, 3]) await tx.step("kv.put", { key: "k", value });
    await tx.rollback(1);
    await tx.step("increment", { by: [1, 1, 1] });
    await tx.step("kv.delete", { key: "k" });
    await tx.step("kv.put", { key: "k", value: 9 });
    await tx.rollback(1);
    expect(await tx.step("kv.get", { key: "k" })).toMatchObject({ output: { found: false } });
  });
});
