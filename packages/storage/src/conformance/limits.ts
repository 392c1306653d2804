// Owns the claims about limits: checked before anything is written (S11).

import type { Claims } from "./harness.js";
import { bytes, fingerprint, publish, refusal, shown, text } from "./harness.js";

const MIB = 1024 * 1024;

export const limitClaims: Claims = {
  "takes a value of 10 MiB through overlay, restore, commit and restart": async (world) => {
    const { store, expect, restart } = world;
    const value = new Uint8Array(10 * MIB);
    for (let index = 0; index < value.length; index += 4096) value[index] = (index / 4096) % 251;
    const tx = await store.begin("t");
    await tx.put("big", value);
    await tx.createSnapshot(2);
    await tx.delete("big");
    await tx.restoreSnapshot(2);
    expect(Buffer.compare((await tx.get("big")) ?? bytes(""), value)).toBe(0);
    await tx.commit();
    const opened = await restart();
    expect(Buffer.compare((await opened.get("big")) ?? bytes(""), value)).toBe(0);
  },
  "refuses a value above 64 MiB and changes nothing": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const value = new Uint8Array(64 * MIB + 1);
    expect(await refusal(() => tx.put("k", value))).toBe("PAYLOAD_TOO_LARGE");
    const good = { key: "good", value: bytes("v") };
    expect(await refusal(() => tx.write([good, { key: "k", value }]))).toBe("PAYLOAD_TOO_LARGE");
    expect(await tx.scan()).toEqual([]);
  },
  "refuses writes above the transaction's bytes and changes nothing": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t", { bytesMax: 1_000 });
    await tx.put("a", new Uint8Array(600));
    const before = await fingerprint(store, tx);
    expect(await refusal(() => tx.put("b", new Uint8Array(600)))).toBe("PAYLOAD_TOO_LARGE");
    expect(await fingerprint(store, tx)).toBe(before);
    await tx.put("c", new Uint8Array(100));
    await tx.commit();
  },
  "refuses a key too many and lets known keys be written again": async ({ store, expect }) => {
    const tx = await store.begin("t", { keysMax: 2 });
    await tx.put("a", bytes("1"));
    await tx.delete("b");
    expect(await refusal(() => tx.put("c", bytes("1")))).toBe("PAYLOAD_TOO_LARGE");
    await tx.put("a", bytes("2"));
    await tx.put("b", bytes("2"));
    expect(shown(await tx.scan())).toEqual(["a=2", "b=2"]);
  },
  "refuses a batch that passes a limit as a whole": async ({ store, expect }) => {
    const tx = await store.begin("t", { keysMax: 2 });
    const before = await fingerprint(store, tx);
    const batch = {
      writes: ["a", "b", "c"].map((key) => ({ key, value: bytes("v") })),
      records: [{ space: "output", step: 1, value: bytes("o") }] as const,
      next: { step: 2 },
      snapshot: 2,
    };
    expect(await refusal(() => tx.apply(batch))).toBe("PAYLOAD_TOO_LARGE");
    expect(await fingerprint(store, tx)).toBe(before);
  },
  "counts the keys and newest values of the overlay, and no history": async ({ store, expect }) => {
    const tx = await store.begin("t", { bytesMax: 100 });
    for (let step = 2; step < 10; step += 1) {
      await tx.apply({ writes: [{ key: "a", value: new Uint8Array(99) }], snapshot: step });
    }
    expect(await refusal(() => tx.put("b", bytes("")))).toBe("PAYLOAD_TOO_LARGE");
    await tx.delete("a");
    await tx.put("b", new Uint8Array(98));
    expect(await refusal(() => tx.put("b", new Uint8Array(99)))).toBe("PAYLOAD_TOO_LARGE");
  },
  "looks at a batch's last write of a key, not at what it replaces": async ({ store, expect }) => {
    const tx = await store.begin("t", { bytesMax: 100 });
    await tx.write([
      { key: "a", value: new Uint8Array(500) },
      { key: "a", value: bytes("small") },
    ]);
    expect(text(await tx.get("a"))).toBe("small");
  },
  "refuses to read a key too many and lets known keys be read again": async (world) => {
    const { store, expect } = world;
    await publish(store, { a: "1", b: "2", c: "3" });
    const tx = await store.begin("t", { keysMax: 2 });
    await tx.getMany(["a", "absent"]);
    expect(await refusal(() => tx.get("b"))).toBe("PAYLOAD_TOO_LARGE");
    expect(await refusal(() => tx.getMany(["a", "b"]))).toBe("PAYLOAD_TOO_LARGE");
    expect(await refusal(() => tx.scan())).toBe("PAYLOAD_TOO_LARGE");
    expect(tx.touched().read).toBe(2);
    expect(text(await tx.get("a"))).toBe("1");
    expect(shown(await tx.scan({ prefix: "a" }))).toEqual(["a=1"]);
    await tx.write(["d", "e"].map((key) => ({ key, value: bytes("own") })));
    expect(text(await tx.get("d"))).toBe("own");
    await tx.restoreSnapshot(1);
    expect(text(await tx.get("b"))).toBe("2");
  },
  "refuses a fork that is above its own limits": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.write(["a", "b"].map((key) => ({ key, value: bytes("v") })));
    await tx.createSnapshot(2);
    for (const limit of [{ keysMax: 1 }, { bytesMax: 3 }]) {
      expect(await refusal(() => store.fork("t", 2, "f", limit))).toBe("PAYLOAD_TOO_LARGE");
    }
    expect((await store.openTransactions()).map(({ id }) => id)).toEqual(["t"]);
    await store.fork("t", 2, "f", { keysMax: 2, bytesMax: 4 });
  },
  "gives keys and bytes back by a restore": async ({ store, expect }) => {
    const tx = await store.begin("t", { keysMax: 1, bytesMax: 1_000 });
    for (const key of ["a", "b", "c"]) {
      await tx.put(key, new Uint8Array(800));
      await tx.restoreSnapshot(1);
    }
    expect(await tx.scan()).toEqual([]);
  },
  "keeps the limits of a transaction over a restart": async ({ store, expect, restart }) => {
    await (await store.begin("t", { keysMax: 1 })).put("a", bytes("1"));
    const again = await (await restart()).attach("t");
    expect(await refusal(() => again.put("b", bytes("1")))).toBe("PAYLOAD_TOO_LARGE");
    expect(await refusal(() => again.put("a", bytes("2")))).toBe(null);
  },
  "refuses ids that are empty, too long or ill-formed": async ({ store, expect }) => {
    for (const id of ["", "x".repeat(257), "\ud800"]) {
      expect(await refusal(() => store.begin(id))).toBe("INVALID_ARGUMENT");
    }
    const namespace = "n".repeat(257);
    expect(await refusal(() => store.begin("t", { namespace }))).toBe("INVALID_ARGUMENT");
    await store.begin("x".repeat(255), { namespace: "n".repeat(255) });
    expect((await store.openTransactions()).length).toBe(1);
  },
  "refuses numbers of records that are out of range": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const numbers of [{ step: -1 }, { step: 2 ** 32 }, { seq: -1 }, { seq: 1.5 }]) {
      const records = [{ space: "saga", ...numbers, value: bytes("u") }] as const;
      expect(await refusal(() => tx.apply({ records }))).toBe("INVALID_ARGUMENT");
    }
    expect(await store.scanRecords("saga", { transaction: "t" })).toEqual([]);
  },
  "works on after every refusal": async ({ store, expect }) => {
    const tx = await store.begin("t", { keysMax: 1 });
    await refusal(() => tx.put("", bytes("v")));
    await refusal(() =>
      tx.write([
        { key: "a", value: bytes("1") },
        { key: "b", value: null },
      ]),
    );
    await refusal(() => tx.createSnapshot(0));
    await tx.put("a", bytes("1"));
    await tx.commit();
    expect(shown(await store.scan())).toEqual(["a=1"]);
    await publish(store, { b: "2" });
    expect((await store.scan()).length).toBe(2);
  },
};
