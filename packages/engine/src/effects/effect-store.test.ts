// Goal: whoever began to write the ledger of a transaction stops when another has taken it over
// (C3), and nothing of the batch is kept. Method: two handles on the memory store.
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { openWriter } from "./effect-store.js";

const BATCH = {
  records: [{ space: "effect", seq: 1, value: new Uint8Array([1]) }],
  audit: [new Uint8Array([2])],
} as const;
const TARGET = { transaction: "t", namespace: "" } as const;

/** A transaction of owner 5, and how owner 6 takes it over. */
async function owned() {
  const store = openMemoryStore();
  const tx = await store.begin("t");
  await tx.apply({ next: { owner: 5n } });
  const takeOver = async () => {
    const other = await store.attach("t");
    await other.apply({ next: { owner: 6n } });
  };
  const kept = async () => [
    await store.scanRecords("effect", { transaction: "t" }),
    await store.readAudit("t"),
  ];
  return { store, tx, takeOver, kept };
}

it.each([
  ["through the handle given, with its token", true, 5n],
  ["through the handle given, with the token of its beginning", true, undefined],
  ["through a handle of its own, with its token", false, 5n],
  ["through a handle of its own, with the token of its beginning", false, undefined],
])("writes %s until another owner takes over", async (_way, isGiven, owner) => {
  const { store, tx, takeOver, kept } = await owned();
  const writer = await openWriter(store, TARGET, isGiven ? tx : null, owner);
  await writer.write(BATCH);
  const before = await kept();
  expect(before[0]).toHaveLength(1);
  await takeOver();
  await expect(writer.write(BATCH)).rejects.toMatchObject({ code: "STALE_OWNER" });
  expect(await kept()).toEqual(before);
  await writer.close();
});
