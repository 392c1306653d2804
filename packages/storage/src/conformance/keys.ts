// Owns the claims about keys: any bytes, and no key of one transaction is read as another's.

import type { Key } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, refusal, shown, text } from "./harness.js";

/** Keys that break naive layouts: separators, prefixes of each other, NUL, 0xFF, what looks like ours. */
const HOSTILE: readonly Uint8Array[] = [
  bytes("/"),
  bytes("//"),
  bytes("a"),
  bytes("a/"),
  bytes("a/s/b"),
  bytes("../x"),
  bytes("g/a"),
  bytes("x/t/s/a"),
  bytes("t/t"),
  bytes("é\u{1f600}"),
  Uint8Array.of(0),
  Uint8Array.of(0, 0),
  Uint8Array.of(0, 0xff),
  Uint8Array.of(0x61, 0),
  Uint8Array.of(0x61, 0, 0x62),
  Uint8Array.of(0xff),
  Uint8Array.of(0xff, 0xff, 0xff),
  Uint8Array.of(0xff, 0x00),
  new Uint8Array(4096).fill(0xff),
  new Uint8Array(4096),
];

/** Ids of which one is a prefix of another, or holds a separator. */
const NEIGHBOURS = ["t", "t1", "t-1", "t|1", "t/1", "t/s", "t\u0000", "T", "\uffff"] as const;

function order(one: Uint8Array, other: Uint8Array): number {
  return Buffer.compare(one, other);
}

async function refusedKeys(call: (key: Key) => Promise<unknown>): Promise<(string | null)[]> {
  const codes = [];
  for (const key of [
    "",
    new Uint8Array(0),
    "\ud800",
    "a\udc00b",
    "k".repeat(4097),
    "é".repeat(2049),
  ]) {
    codes.push(await refusal(() => call(key)));
  }
  return codes;
}
const ALL_REFUSED = Array.from({ length: 6 }, () => "INVALID_KEY");

export const keyClaims: Claims = {
  "takes any bytes as a key, in the overlay and committed": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const [index, key] of HOSTILE.entries()) await tx.put(key, bytes(`v${index}`));
    for (const [index, key] of HOSTILE.entries()) expect(text(await tx.get(key))).toBe(`v${index}`);
    await tx.commit();
    for (const [index, key] of HOSTILE.entries()) {
      expect(text(await store.get(key))).toBe(`v${index}`);
    }
  },
  "scans any keys in byte order, both ways": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const key of HOSTILE) await tx.put(key, bytes("v"));
    const sorted = [...HOSTILE].sort(order);
    expect((await tx.scan()).map(({ key }) => [...key])).toEqual(sorted.map((key) => [...key]));
    await tx.commit();
    const backward = await store.scan({ reverse: true });
    expect(backward.map(({ key }) => [...key])).toEqual(sorted.reverse().map((key) => [...key]));
  },
  "deletes and restores hostile keys one by one": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const key of HOSTILE) await tx.put(key, bytes("v"));
    await tx.createSnapshot(2);
    for (const key of HOSTILE) await tx.delete(key);
    expect(await tx.scan()).toEqual([]);
    const result = await tx.restoreSnapshot(2);
    expect(result).toEqual({ writesReverted: HOSTILE.length, keysRestored: HOSTILE.length });
    expect((await tx.scan()).length).toBe(HOSTILE.length);
  },
  "treats text as its UTF-8 bytes": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("é\u{1f600}", bytes("v"));
    expect(text(await tx.get(bytes("é\u{1f600}")))).toBe("v");
  },
  "refuses empty, too long and ill-formed keys in writes and changes nothing": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    expect(await refusedKeys((key) => tx.put(key, bytes("v")))).toEqual(ALL_REFUSED);
    expect(await refusedKeys((key) => tx.delete(key))).toEqual(ALL_REFUSED);
    const good = { key: "good", value: bytes("v") };
    expect(await refusedKeys((key) => tx.write([good, { key, value: bytes("v") }]))).toEqual(
      ALL_REFUSED,
    );
    expect(await tx.scan()).toEqual([]);
  },
  "refuses empty, too long and ill-formed keys in reads": async ({ store, expect }) => {
    const tx = await store.begin("t");
    expect(await refusedKeys((key) => tx.get(key))).toEqual(ALL_REFUSED);
    expect(await refusedKeys((key) => tx.getMany(["good", key]))).toEqual(ALL_REFUSED);
    expect(await refusedKeys((key) => store.get(key))).toEqual(ALL_REFUSED);
    expect(await refusedKeys((key) => store.getVersioned(key))).toEqual(ALL_REFUSED);
  },
  "takes a key of exactly 4,096 bytes": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const key = "k".repeat(4096);
    await tx.put(key, bytes("v"));
    await tx.commit();
    expect(text(await store.get(key))).toBe("v");
  },
  "keeps overlays of neighbouring ids apart in reads and scans": async ({ store, expect }) => {
    const open = await Promise.all(NEIGHBOURS.map((id) => store.begin(id)));
    for (const tx of open) {
      await tx.put("k", bytes(tx.id));
      await tx.put(`only ${tx.id}`, bytes("v"));
    }
    for (const tx of open) {
      expect(shown(await tx.scan())).toEqual([`k=${tx.id}`, `only ${tx.id}=v`]);
      expect((await tx.scan({ reverse: true })).length).toBe(2);
    }
  },
  "restores one transaction without touching neighbouring ids": async ({ store, expect }) => {
    const open = await Promise.all(NEIGHBOURS.map((id) => store.begin(id)));
    for (const tx of open) await tx.put("k", bytes(tx.id));
    const [first] = open;
    await first?.restoreSnapshot(0);
    expect(await first?.scan()).toEqual([]);
    for (const tx of open.slice(1)) expect(text(await tx.get("k"))).toBe(tx.id);
  },
  "discards one transaction without touching neighbouring ids": async ({ store, expect }) => {
    const open = await Promise.all(NEIGHBOURS.map((id) => store.begin(id)));
    for (const tx of open) {
      await tx.apply({
        writes: [{ key: "k", value: bytes(tx.id) }],
        records: [{ space: "output", step: 1, value: bytes(tx.id) }],
        snapshot: 2,
      });
    }
    const [first, ...rest] = open;
    await first?.discard();
    for (const tx of rest) {
      expect(text(await tx.get("k"))).toBe(tx.id);
      expect(text(await store.readRecord(tx.id, { space: "output", step: 1 }))).toBe(tx.id);
      expect((await tx.restoreSnapshot(2)).writesReverted).toBe(0);
    }
    const left = (await store.openTransactions()).map(({ id }) => id);
    expect(left.sort()).toEqual([...NEIGHBOURS.slice(1)].sort());
  },
};
