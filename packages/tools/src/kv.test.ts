// Goal: kv tools keep JSON in the transaction's own state. Method: over the memory store.

import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { kvTools } from "./kv.js";
import { bufferedState, call, toolContext } from "./testing/context.js";

const [put, get, remove] = kvTools();

async function world() {
  const store = openMemoryStore();
  const tx = await store.begin("t");
  const state = bufferedState(tx);
  return { store, tx, state, context: toolContext({ state }) };
}

describe("kv tools", () => {
  it("read back any JSON value that was put", async () => {
    const { context } = await world();
    for (const value of [null, 0, "", "text", true, [1, { a: null }], { deep: { x: [] } }]) {
      expect(await call(put, { key: "k", value }, context)).toEqual({ key: "k" });
      expect(await call(get, { key: "k" }, context)).toEqual({ key: "k", found: true, value });
    }
  });

  it("tell a stored null from nothing", async () => {
    const { context } = await world();
    expect(await call(get, { key: "k" }, context)).toEqual({ key: "k", found: false, value: null });
    await call(put, { key: "k", value: null }, context);
    expect(await call(get, { key: "k" }, context)).toMatchObject({ found: true, value: null });
  });

  it("delete, and are content when there is nothing to delete", async () => {
    const { context } = await world();
    await call(put, { key: "k", value: 1 }, context);
    for (const _ of [1, 2]) expect(await call(remove, { key: "k" }, context)).toEqual({ key: "k" });
    expect(await call(get, { key: "k" }, context)).toMatchObject({ found: false });
  });

  it("stay inside their prefix, whatever the key", async () => {
    const { store, tx, state, context } = await world();
    await call(put, { key: "r/orders/1", value: "forged" }, context);
    await state.flush();
    await tx.commit();
    const keys = (await store.scan()).map((row) => new TextDecoder().decode(row.key));
    expect(keys).toEqual(["k/r/orders/1"]);
  });

  it("name the argument they do not know", async () => {
    const { context } = await world();
    await expect(call(put, { key: "k", value: 1, vlaue: 2 }, context)).rejects.toThrow(/vlaue/);
    await expect(call(get, { key: "k", extra: 2 }, context)).rejects.toThrow(/extra/);
    await expect(call(put, { key: "", value: 1 }, context)).rejects.toThrow(/key/);
    await expect(call(put, { key: "k" }, context)).rejects.toThrow(/value/);
  });

  it("declare what they do: state only, one reads", () => {
    expect([put, get, remove].map(({ effect }) => effect)).toEqual([
      "reversible",
      "read-only",
      "reversible",
    ]);
    expect([put, get, remove].map(({ scope }) => scope)).toEqual(["store", "store", "store"]);
  });
});
