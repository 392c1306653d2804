// Owns the claims about reading and isolation (S5).

import type { Claims } from "./harness.js";
import { bytes, publish, text } from "./harness.js";

export const readClaims: Claims = {
  "reads its own write before it is committed": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("k", bytes("v"));
    expect(text(await tx.get("k"))).toBe("v");
  },
  "reads the newest of its own writes": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("k", bytes("one"));
    await tx.put("k", bytes("two"));
    expect(text(await tx.get("k"))).toBe("two");
  },
  "answers null for a key nobody wrote": async ({ store, expect }) => {
    const tx = await store.begin("t");
    expect(await tx.get("k")).toBe(null);
    expect(await store.get("k")).toBe(null);
    expect(await store.getVersioned("k")).toBe(null);
  },
  "hides a committed value behind its own tombstone": async ({ store, expect }) => {
    await publish(store, { k: "v" });
    const tx = await store.begin("t");
    await tx.delete("k");
    expect(await tx.get("k")).toBe(null);
    expect(text(await store.get("k"))).toBe("v");
  },
  "brings a deleted key back by a new write": async ({ store, expect }) => {
    await publish(store, { k: "old" });
    const tx = await store.begin("t");
    await tx.delete("k");
    await tx.put("k", bytes("new"));
    expect(text(await tx.get("k"))).toBe("new");
  },
  "tells an empty value from no value": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("k", bytes(""));
    expect(text(await tx.get("k"))).toBe("");
    await tx.commit();
    expect(text(await store.get("k"))).toBe("");
  },
  "never shows an overlay to another transaction or outside": async ({ store, expect }) => {
    const one = await store.begin("one");
    const other = await store.begin("other");
    await one.put("k", bytes("secret"));
    expect(await other.get("k")).toBe(null);
    expect(await store.get("k")).toBe(null);
    expect(await other.scan()).toEqual([]);
    expect(await store.scan()).toEqual([]);
  },
  "sees what another transaction committed since it began (read committed)": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    await publish(store, { k: "v" });
    expect(text(await tx.get("k"))).toBe("v");
    await publish(store, { k: "w" });
    expect(text(await tx.get("k"))).toBe("w");
  },
  "answers many keys in the order asked, own and committed and absent": async (world) => {
    const { store, expect } = world;
    await publish(store, { a: "A", d: "D" });
    const tx = await store.begin("t");
    await tx.put("b", bytes("B"));
    await tx.delete("d");
    const found = await tx.getMany(["b", "x", "a", "d", "b"]);
    expect(found.map(text)).toEqual(["B", null, "A", null, "B"]);
  },
  "applies a list of writes in order, the last one of a key winning": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    await tx.write([
      { key: "k", value: bytes("one") },
      { key: "l", value: bytes("L") },
      { key: "k", value: null },
      { key: "k", value: bytes("three") },
    ]);
    expect((await tx.getMany(["k", "l"])).map(text)).toEqual(["three", "L"]);
  },
  "keeps its bytes when the caller reuses the buffer given": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const value = bytes("mine");
    const key = bytes("k");
    await tx.put(key, value);
    value.fill(0);
    key.fill(0);
    expect(text(await tx.get("k"))).toBe("mine");
  },
  "hands out copies that the caller may change": async ({ store, expect }) => {
    await publish(store, { c: "committed" });
    const tx = await store.begin("t");
    await tx.put("k", bytes("mine"));
    for (const key of ["k", "c"]) (await tx.get(key))?.fill(0);
    for (const { value } of await tx.scan()) value.fill(0);
    (await store.get("c"))?.fill(0);
    expect((await tx.getMany(["k", "c"])).map(text)).toEqual(["mine", "committed"]);
  },
  "keeps namespaces apart, with equal keys and equal transaction ids": async (world) => {
    const { store, expect } = world;
    const one = await store.begin("t", { namespace: "a" });
    const other = await store.begin("t", { namespace: "ab" });
    const third = await store.begin("t");
    await one.put("bk", bytes("one"));
    await other.put("k", bytes("other"));
    expect(await third.scan()).toEqual([]);
    await one.commit();
    await other.commit();
    expect(text(await store.get("bk", { namespace: "a" }))).toBe("one");
    expect(await store.get("bk", { namespace: "ab" })).toBe(null);
    expect(await store.get("k", { namespace: "a" })).toBe(null);
    expect(await store.get("bk")).toBe(null);
    expect((await store.scan({ namespace: "a" })).length).toBe(1);
    expect(await store.scan()).toEqual([]);
  },
  "counts distinct keys read from committed state and distinct keys written": async (world) => {
    const { store, expect } = world;
    await publish(store, { a: "A" });
    const tx = await store.begin("t");
    await tx.get("a");
    await tx.get("a");
    await tx.get("absent");
    await tx.put("w", bytes("1"));
    await tx.put("w", bytes("2"));
    await tx.get("w");
    expect(tx.touched()).toEqual({ read: 2, written: 1 });
  },
};
