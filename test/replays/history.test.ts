// Goal: bug reports 01, 05 and 07. Reading the past runs nothing and loses nothing; a rollback
// leaves exactly the key set of its target.
import { describe, expect, it } from "vitest";
import { DRIVERS, start } from "./drivers.js";
import { decoded, kv, outside } from "./tools.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it("01: reading state as of any step calls no tool, and gives the same outputs", async () => {
    const charge = outside("charge");
    const mail = outside("mail");
    const { engine } = await start(driver, [...kv, charge.tool, mail.tool]);
    const tx = await engine.begin();
    await tx.step("kv.put", { key: "order", value: 1 });
    await tx.step("charge", { item: "card" });
    await tx.step("mail", { item: "letter" });
    const outputs = async () =>
      (await tx.history()).flatMap((entry) => (entry.kind === "step" ? [entry.output] : []));
    const first = await outputs();
    expect(first).toEqual([{ key: "order" }, { item: "card" }, { item: "letter" }]);
    await engine.get(tx.id);
    await tx.view();
    expect(await outputs()).toEqual(first);
    expect([charge.log, mail.log]).toEqual([["do card"], ["do letter"]]);
  });

  it("05: undone values stay readable, and a redo is refused with its reason", async () => {
    const { engine, restart } = await start(driver, kv);
    const tx = await engine.begin();
    for (const value of [1, 2, 3]) await tx.step("kv.put", { key: "k", value });
    await tx.rollback(2);
    const read = await tx.step("kv.get", { key: "k" });
    expect(read).toMatchObject({ output: { value: 1 } });
    await tx.rollback(2);
    await expect(tx.rollback(4)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("history()"),
      details: { toStep: 4, nextStep: 2 },
    });
    await engine.close();
    const later = await (await restart()).resume(tx.id);
    const puts = (await later.history()).flatMap((entry) =>
      entry.kind === "step" && entry.tool === "kv.put"
        ? [{ arguments: entry.arguments, undone: entry.undoneBy !== null }]
        : [],
    );
    expect(puts).toEqual([
      { arguments: { key: "k", value: 1 }, undone: false },
      { arguments: { key: "k", value: 2 }, undone: true },
      { arguments: { key: "k", value: 3 }, undone: true },
    ]);
  });

  it("07: after a rollback the key set is that of the target, created keys included", async () => {
    const { engine, store } = await start(driver, kv);
    const tx = await engine.begin();
    await tx.step("kv.put", { key: "a", value: "old" });
    await tx.step("kv.put", { key: "b", value: 1 });
    await tx.step("kv.put", { key: "c/d", value: 1 });
    await tx.step("kv.delete", { key: "a" });
    expect(await tx.rollback(2)).toMatchObject({ rolledBack: true, writesReverted: 3 });
    await tx.commit();
    const all = await store.scan();
    expect(all.map(({ key, value }) => [Buffer.from(key).toString(), decoded(value)])).toEqual([
      ["a", "old"],
    ]);
  });
});
