// Owns the claims about snapshots and restore (S2-S4).

import type { Claims } from "./harness.js";
import { bytes, fingerprint, publish, refusal, shown, text } from "./harness.js";

export const snapshotClaims: Claims = {
  "has snapshots 0 and 1 from the beginning": async ({ store, expect }) => {
    const tx = await store.begin("t");
    expect(tx.header().snapshot).toBe(1);
    expect(await refusal(() => tx.restoreSnapshot(1))).toBe(null);
    expect(await refusal(() => tx.restoreSnapshot(0))).toBe(null);
  },
  "goes back to the state of the snapshot": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.createSnapshot(2);
    await tx.put("a", bytes("2"));
    await tx.put("b", bytes("2"));
    await tx.restoreSnapshot(2);
    expect(shown(await tx.scan())).toEqual(["a=1"]);
    expect(tx.header().snapshot).toBe(2);
  },
  "counts reverted writes one by one and restored keys once": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.createSnapshot(2);
    await tx.put("a", bytes("1"));
    await tx.put("a", bytes("2"));
    await tx.createSnapshot(3);
    await tx.put("a", bytes("3"));
    await tx.delete("b");
    expect(await tx.restoreSnapshot(2)).toEqual({ writesReverted: 4, keysRestored: 2 });
  },
  "restores the same snapshot again": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.createSnapshot(2);
    for (const value of ["x", "y"]) {
      await tx.put("a", bytes(value));
      expect((await tx.restoreSnapshot(2)).writesReverted).toBe(1);
      expect(text(await tx.get("a"))).toBe("1");
    }
    expect(await tx.restoreSnapshot(2)).toEqual({ writesReverted: 0, keysRestored: 0 });
  },
  "forgets the snapshots after the target": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const step of [2, 3, 4]) {
      await tx.put("a", bytes(`${step}`));
      await tx.createSnapshot(step);
    }
    await tx.restoreSnapshot(3);
    expect(await refusal(() => tx.restoreSnapshot(4))).toBe("SNAPSHOT_NOT_FOUND");
    await tx.restoreSnapshot(2);
    expect(text(await tx.get("a"))).toBe("2");
  },
  "restoring an unknown snapshot changes nothing and says so": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({
      writes: [{ key: "a", value: bytes("1") }],
      records: [{ space: "output", step: 1, value: bytes("o") }],
      snapshot: 3,
    });
    const before = await fingerprint(store, tx);
    for (const step of [2, 4, 99]) {
      const options = {
        payload: bytes("new"),
        audit: [bytes("a")],
        records: [{ space: "saga", step: 1, seq: 1, value: bytes("u") }] as const,
      };
      expect(await refusal(() => tx.restoreSnapshot(step, options))).toBe("SNAPSHOT_NOT_FOUND");
    }
    expect(await fingerprint(store, tx)).toBe(before);
  },
  "refuses a snapshot that is not above the newest": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.createSnapshot(5);
    for (const step of [5, 4, 1, 0, -1, 1.5]) {
      expect(await refusal(() => tx.createSnapshot(step))).toBe("INVALID_ARGUMENT");
    }
    expect(tx.header().snapshot).toBe(5);
  },
  "refuses a batch with such a snapshot as a whole": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.createSnapshot(5);
    const before = await fingerprint(store, tx);
    const batch = {
      writes: [{ key: "k", value: bytes("v") }],
      records: [{ space: "effect", seq: 1, value: bytes("e") }] as const,
      audit: [bytes("a")],
      payload: bytes("p"),
      next: { attempt: 9, step: 9 },
      snapshot: 5,
    };
    expect(await refusal(() => tx.apply(batch))).toBe("INVALID_ARGUMENT");
    expect(await fingerprint(store, tx)).toBe(before);
  },
  "takes the snapshot of a batch after its writes": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "k", value: bytes("in") }], snapshot: 2 });
    await tx.put("k", bytes("after"));
    await tx.restoreSnapshot(2);
    expect(text(await tx.get("k"))).toBe("in");
  },
  "leaves gaps between snapshot numbers": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.createSnapshot(10);
    await tx.put("k", bytes("v"));
    await tx.createSnapshot(200);
    expect(await refusal(() => tx.restoreSnapshot(100))).toBe("SNAPSHOT_NOT_FOUND");
    await tx.restoreSnapshot(10);
    expect(await tx.scan()).toEqual([]);
  },
  "undoes create, update and delete in a chain down to absence": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const values = ["created", "updated", null, "created again", null];
    for (const [index, value] of values.entries()) {
      if (value === null) await tx.delete("k");
      else await tx.put("k", bytes(value));
      await tx.createSnapshot(index + 2);
    }
    for (const [index, value] of [...values.entries()].reverse()) {
      await tx.restoreSnapshot(index + 2);
      expect(text(await tx.get("k"))).toBe(value);
    }
    await tx.restoreSnapshot(1);
    expect(await tx.get("k")).toBe(null);
    expect(tx.touched().written).toBe(0);
  },
  "brings the committed value back when its overwrite is undone": async ({ store, expect }) => {
    await publish(store, { k: "committed", d: "kept" });
    const tx = await store.begin("t");
    await tx.put("k", bytes("mine"));
    await tx.delete("d");
    await tx.restoreSnapshot(0);
    expect((await tx.getMany(["k", "d"])).map(text)).toEqual(["committed", "kept"]);
    expect((await tx.commit()).keysPublished).toBe(0);
    expect(text(await store.get("k"))).toBe("committed");
  },
  "restores a tombstone as a tombstone": async ({ store, expect }) => {
    await publish(store, { k: "committed" });
    const tx = await store.begin("t");
    await tx.delete("k");
    await tx.createSnapshot(2);
    await tx.put("k", bytes("back"));
    await tx.restoreSnapshot(2);
    expect(await tx.get("k")).toBe(null);
    await tx.commit();
    expect(await store.get("k")).toBe(null);
  },
  "starts again after a reset to 0 with snapshot 1 taken in the same batch": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    const result = await tx.restoreSnapshot(0, {
      snapshot: 1,
      next: { step: 1 },
      payload: bytes("reset"),
    });
    expect(result).toEqual({ writesReverted: 1, keysRestored: 1 });
    expect(tx.header().snapshot).toBe(1);
    expect(text(tx.header().payload)).toBe("reset");
    await tx.apply({ writes: [{ key: "a", value: bytes("2") }], snapshot: 2 });
    await tx.restoreSnapshot(1);
    expect(await tx.scan()).toEqual([]);
  },
  "forgets snapshot 1 too by a restore to 0 that does not take it again": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.restoreSnapshot(0);
    expect(tx.header().snapshot).toBe(0);
    expect(await refusal(() => tx.restoreSnapshot(1))).toBe("SNAPSHOT_NOT_FOUND");
    await tx.createSnapshot(1);
    expect(tx.header().snapshot).toBe(1);
  },
  "refuses a restore whose new snapshot is not above the target": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    const before = await fingerprint(store, tx);
    const restore = () => tx.restoreSnapshot(1, { snapshot: 1 });
    expect(await refusal(restore)).toBe("INVALID_ARGUMENT");
    expect(await fingerprint(store, tx)).toBe(before);
  },
  "drops outputs from the target on, keeps earlier ones and every other record": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    for (const step of [1, 2, 3]) {
      await tx.apply({
        records: [
          { space: "output", step, value: bytes(`o${step}`) },
          { space: "saga", step, seq: 1, value: bytes(`u${step}`) },
          { space: "effect", seq: step, value: bytes(`e${step}`) },
        ],
        snapshot: step + 1,
      });
    }
    await tx.restoreSnapshot(2);
    const steps = async (space: "output" | "saga"): Promise<number[]> =>
      (await store.scanRecords(space, { transaction: "t" })).map(({ step }) => step);
    expect(await steps("output")).toEqual([1]);
    expect(await steps("saga")).toEqual([1, 2, 3]);
    expect((await store.scanRecords("effect", { transaction: "t" })).length).toBe(3);
  },
  "writes header, records and audit of a restore with it": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    await tx.restoreSnapshot(1, {
      next: { owner: 3n, attempt: 7, step: 1 },
      payload: bytes("p"),
      records: [{ space: "output", step: 1, value: bytes("kept") }],
      audit: [bytes("rewound")],
      storeAudit: [bytes("store")],
    });
    const { owner, attempt, step, payload } = tx.header();
    expect([owner, attempt, step, text(payload)]).toEqual([3n, 7, 1, "p"]);
    expect(text(await store.readRecord("t", { space: "output", step: 1 }))).toBe("kept");
    expect((await store.readAudit("t")).map((row) => text(row.payload))).toEqual(["rewound"]);
    expect((await store.readAudit(null)).map((row) => text(row.payload))).toEqual(["store"]);
  },
  "leaves the header's numbers alone in a restore that names none": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ next: { owner: 2n, attempt: 3, step: 4 }, snapshot: 2 });
    await tx.restoreSnapshot(1);
    const { owner, attempt, step, snapshot } = tx.header();
    expect([owner, attempt, step, snapshot]).toEqual([2n, 3, 4, 1]);
  },
  "keeps snapshots and the way back after a restart": async ({ store, expect, restart }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    await tx.apply({ writes: [{ key: "a", value: bytes("2") }], snapshot: 3 });
    await tx.put("a", bytes("3"));
    const again = await (await restart()).attach("t");
    expect(again.header().snapshot).toBe(3);
    expect(text(await again.get("a"))).toBe("3");
    expect(await again.restoreSnapshot(2)).toEqual({ writesReverted: 2, keysRestored: 1 });
    expect(text(await again.get("a"))).toBe("1");
  },
  "restores a thousand keys at once": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
    await tx.write(keys.map((key) => ({ key, value: bytes("before") })));
    await tx.createSnapshot(2);
    await tx.write(keys.map((key) => ({ key, value: bytes("after") })));
    await tx.write(keys.map((key) => ({ key, value: null })));
    expect(await tx.restoreSnapshot(2)).toEqual({ writesReverted: 2_000, keysRestored: 1_000 });
    expect((await tx.getMany(keys)).every((value) => text(value) === "before")).toBe(true);
  },
};
