// Goal: nothing is missing when the store ends a page early, as it does when its entries are heavy.
// Method: a store that ends a page after a MiB, and steps that weigh as much.
import type { Store } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { echo, harness } from "./testing/harness.js";

const PAGE_BYTES = 1 << 20;
const HEAVY = "x".repeat(7_000);
const NUMBERS = Array.from({ length: 200 }, (_, index) => index + 1);

function fewPerPage(): Store {
  const store = openMemoryStore();
  const scanRecords = store.scanRecords.bind(store);
  const readAudit = store.readAudit.bind(store);
  store.scanRecords = async (space, range) =>
    untilHeavy(await scanRecords(space, range), ({ value }) => value.length);
  store.readAudit = async (transaction, range) =>
    untilHeavy(await readAudit(transaction, range), ({ payload }) => payload.length);
  return store;
}

/** The entries up to the one that brings the page to its weight. */
function untilHeavy<Entry>(page: Entry[], bytesOf: (entry: Entry) => number): Entry[] {
  let bytes = 0;
  const last = page.findIndex((entry) => {
    bytes += bytesOf(entry);
    return bytes >= PAGE_BYTES;
  });
  return last < 0 ? page : page.slice(0, last + 1);
}

it("reads on after a short page: history, context, list, repeats and retention", async () => {
  const { engine, clock, store } = harness([echo], {
    store: fewPerPage(),
    contextBytesMax: 4 * PAGE_BYTES,
  });
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) {
    const tx = await engine.begin();
    ids.push(tx.id);
    for (const n of NUMBERS) {
      const options = { rawContext: `${name}${n}${HEAVY}`, requestId: `${n}` };
      await tx.step("echo", { output: [n, HEAVY] }, options);
    }
    expect((await tx.view()).context.map(({ rawContext }) => rawContext.length)).toEqual(
      NUMBERS.map((n) => `${name}${n}`.length + HEAVY.length),
    );
    await tx.commit();
    const again = await engine.resume(tx.id);
    expect(await again.step("echo", { output: [200, HEAVY] }, { requestId: "200" })).toMatchObject({
      output: [200, HEAVY],
    });
    expect((await tx.history()).map(({ kind }) => kind)).toEqual([
      "began",
      ...NUMBERS.map(() => "step"),
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
