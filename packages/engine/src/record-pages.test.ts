// Goal: nothing is missing when the store ends a page early, as it does when its entries are heavy.
// Method: a store that gives one entry a page.
import type { Store } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { echo, harness } from "./testing/harness.js";

function onePerPage(): Store {
  const store = openMemoryStore();
  const scanRecords = store.scanRecords.bind(store);
  const readAudit = store.readAudit.bind(store);
  store.scanRecords = (space, range) => scanRecords(space, { ...range, limit: 1 });
  store.readAudit = (transaction, range) => readAudit(transaction, { ...range, limit: 1 });
  return store;
}

it("reads on after a short page: history, context, list, repeats and retention", async () => {
  const { engine, clock, store } = harness([echo], { store: onePerPage() });
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) {
    const tx = await engine.begin();
    ids.push(tx.id);
    for (const n of [1, 2, 3]) {
      const options = { rawContext: `${name}${n}`, requestId: `${n}` };
      await tx.step("echo", { output: n }, options);
    }
    expect((await tx.view()).context.map(({ rawContext }) => rawContext)).toEqual([
      `${name}1`,
      `${name}2`,
      `${name}3`,
    ]);
    await tx.commit();
    const again = await engine.resume(tx.id);
    expect(await again.step("echo", { output: 3 }, { requestId: "3" })).toMatchObject({
      output: 3,
    });
    expect((await tx.history()).map(({ kind }) => kind)).toEqual([
      "began",
      "step",
      "step",
      "step",
      "committed",
    ]);
  }
  expect((await engine.list()).map(({ id }) => id)).toEqual(ids);
  await clock.advance(8 * 24 * 3_600_000);
  for (const id of ids) {
    expect(await store.scanRecords("request", { transaction: id })).toEqual([]);
    await expect(engine.get(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});
