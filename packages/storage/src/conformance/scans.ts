// Owns the claims about range reads: overlay and committed state merged in byte order (S5).

import type { Store, StoreTransaction } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, publish, refusal, shown, text } from "./harness.js";

/** Committed a, c, e, g; the transaction overwrites c, deletes e, adds b and h. */
async function mixed(store: Store): Promise<StoreTransaction> {
  await publish(store, { a: "1", c: "1", e: "1", g: "1" });
  const tx = await store.begin("t");
  await tx.put("c", bytes("2"));
  await tx.delete("e");
  await tx.put("b", bytes("2"));
  await tx.put("h", bytes("2"));
  return tx;
}

export const scanClaims: Claims = {
  "merges own and committed entries in key order": async ({ store, expect }) => {
    const tx = await mixed(store);
    expect(shown(await tx.scan())).toEqual(["a=1", "b=2", "c=2", "g=1", "h=2"]);
  },
  "merges backward too": async ({ store, expect }) => {
    const tx = await mixed(store);
    expect(shown(await tx.scan({ reverse: true }))).toEqual(["h=2", "g=1", "c=2", "b=2", "a=1"]);
  },
  "includes the start and excludes the end, both ways": async ({ store, expect }) => {
    const tx = await mixed(store);
    const range = { start: "b", end: "g" };
    expect(shown(await tx.scan(range))).toEqual(["b=2", "c=2"]);
    expect(shown(await tx.scan({ ...range, reverse: true }))).toEqual(["c=2", "b=2"]);
  },
  "counts only visible entries against the limit": async ({ store, expect }) => {
    const tx = await mixed(store);
    expect(shown(await tx.scan({ start: "d", limit: 1 }))).toEqual(["g=1"]);
    expect(shown(await tx.scan({ end: "f", limit: 1, reverse: true }))).toEqual(["c=2"]);
    expect(shown(await tx.scan({ limit: 2, reverse: true }))).toEqual(["h=2", "g=1"]);
  },
  "pages through everything by the key after the last": async ({ store, expect }) => {
    const tx = await mixed(store);
    const seen: string[] = [];
    let start = new Uint8Array(0);
    for (let round = 0; round < 20; round += 1) {
      const page = await tx.scan({ start, limit: 2 });
      seen.push(...shown(page));
      const last = page.at(-1);
      if (last === undefined) break;
      start = Uint8Array.of(...last.key, 0);
    }
    expect(seen).toEqual(["a=1", "b=2", "c=2", "g=1", "h=2"]);
  },
  "finds by prefix, also a prefix that ends in 0xFF": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const key of [[1], [1, 0xff], [1, 0xff, 0], [2], [0xff], [0xff, 0xff], [0xff, 0xff, 7]]) {
      await tx.put(Uint8Array.from(key), bytes("v"));
    }
    const keys = async (prefix: number[]): Promise<number[][]> =>
      (await tx.scan({ prefix: Uint8Array.from(prefix) })).map(({ key }) => [...key]);
    expect(await keys([1, 0xff])).toEqual([
      [1, 0xff],
      [1, 0xff, 0],
    ]);
    expect(await keys([0xff, 0xff])).toEqual([
      [0xff, 0xff],
      [0xff, 0xff, 7],
    ]);
    expect((await keys([])).length).toBe(7);
  },
  "takes bounds as Buffers too, and leaves them as they were": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const key of ["a", "b/1", "b/2", "c"]) await tx.put(key, bytes("x"));
    const [prefix, start, end] = [Buffer.from("b/"), Buffer.from("b"), Buffer.from("c")];
    for (const range of [{ prefix }, { prefix }, { start, end }]) {
      expect(shown(await tx.scan(range))).toEqual(["b/1=x", "b/2=x"]);
    }
    await tx.commit();
    expect(shown(await store.scan({ prefix }))).toEqual(["b/1=x", "b/2=x"]);
    expect([prefix, start, end].map(String)).toEqual(["b/", "b", "c"]);
  },

  "scans a prefix backward with a limit": async ({ store, expect }) => {
    await publish(store, { "a/1": "1", "a/2": "2", "a/3": "3", b: "4" });
    const found = await store.scan({ prefix: "a/", reverse: true, limit: 2 });
    expect(shown(found)).toEqual(["a/3=3", "a/2=2"]);
  },
  "answers an empty list for an empty or inverted range": async ({ store, expect }) => {
    const tx = await mixed(store);
    expect(await tx.scan({ start: "b", end: "b" })).toEqual([]);
    expect(await tx.scan({ start: "g", end: "b" })).toEqual([]);
    expect(await tx.scan({ prefix: "nothing" })).toEqual([]);
    expect(await tx.scan({ start: "g", end: "b", reverse: true })).toEqual([]);
  },
  "returns 1,000 entries when no limit is named": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const writes = Array.from({ length: 1_001 }, (_, index) => ({
      key: `k${String(index).padStart(5, "0")}`,
      value: bytes("v"),
    }));
    await tx.write(writes);
    expect((await tx.scan()).length).toBe(1_000);
    expect((await tx.scan({ limit: 100_000 })).length).toBe(1_001);
  },
  "refuses a prefix beside a bound and a limit out of range": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const ranges = [
      { prefix: "a", start: "a" },
      { prefix: "a", end: "b" },
      { limit: 0 },
      { limit: -1 },
      { limit: 1.5 },
      { limit: 100_001 },
    ];
    for (const range of ranges) {
      expect(await refusal(() => tx.scan(range))).toBe("INVALID_ARGUMENT");
      expect(await refusal(() => store.scan(range))).toBe("INVALID_ARGUMENT");
    }
  },
  "refuses ill-formed bounds": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const range of [{ prefix: "\ud800" }, { start: "\ud800" }, { end: "k".repeat(4097) }]) {
      expect(await refusal(() => tx.scan(range))).toBe("INVALID_KEY");
    }
  },
  "ends a call near 16 MiB and goes on from there": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const value = new Uint8Array(10 * 1024 * 1024).fill(7);
    for (const key of ["a", "b", "c"]) await tx.put(key, value);
    const page = await tx.scan();
    // Short for its bytes alone: a shorter page with fewer bytes would be the end of the range.
    expect(page.length).toBe(2);
    const last = page.at(-1)?.key ?? bytes("");
    const rest = await tx.scan({ start: Uint8Array.of(...last, 0) });
    expect([...page, ...rest].map(({ key }) => text(key))).toEqual(["a", "b", "c"]);
  },
  "sees committed entries only, from outside": async ({ store, expect }) => {
    await mixed(store);
    expect(shown(await store.scan())).toEqual(["a=1", "c=1", "e=1", "g=1"]);
  },
};
