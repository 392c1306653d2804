// Owns the claims about forks: a new transaction from another's snapshot (S12).

import type { Claims } from "./harness.js";
import { bytes, publish, refusal, shown, text } from "./harness.js";

export const forkClaims: Claims = {
  "starts from the overlay of that snapshot, tombstones included": async ({ store, expect }) => {
    await publish(store, { gone: "v", kept: "v" });
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.delete("gone");
    await tx.createSnapshot(2);
    await tx.put("a", bytes("2"));
    await tx.put("later", bytes("x"));
    const fork = await store.fork("t", 2, "f", { payload: bytes("revision 2") });
    expect(shown(await fork.scan())).toEqual(["a=1", "kept=v"]);
    const { owner, attempt, step, snapshot, payload } = fork.header();
    expect([owner, attempt, step, snapshot, text(payload)]).toEqual([1n, 0, 1, 1, "revision 2"]);
  },
  "goes its own way, both sides": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    const fork = await store.fork("t", 2, "f");
    await tx.put("a", bytes("old side"));
    await fork.put("a", bytes("new side"));
    expect(text(await tx.get("a"))).toBe("old side");
    await tx.discard();
    expect(text(await fork.get("a"))).toBe("new side");
    await fork.commit();
    expect(text(await store.get("a"))).toBe("new side");
  },
  "has the forked state as its own snapshots 0 and 1": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    const fork = await store.fork("t", 2, "f");
    await fork.put("a", bytes("2"));
    expect(await fork.restoreSnapshot(1)).toEqual({ writesReverted: 1, keysRestored: 1 });
    expect(text(await fork.get("a"))).toBe("1");
    await fork.put("a", bytes("3"));
    await fork.restoreSnapshot(0);
    expect(text(await fork.get("a"))).toBe("1");
    expect(await refusal(() => fork.restoreSnapshot(2))).toBe("SNAPSHOT_NOT_FOUND");
  },
  "inherits base versions, so that a conflict is still one": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "k", value: bytes("mine") }], snapshot: 2 });
    await publish(store, { k: "2" });
    const fork = await store.fork("t", 2, "f");
    expect(await refusal(() => fork.commit())).toBe("WRITE_CONFLICT");
  },
  "validates the reads it inherits when it is serializable": async ({ store, expect }) => {
    await publish(store, { read: "1" });
    const tx = await store.begin("t");
    await tx.get("read");
    await tx.createSnapshot(2);
    const plain = await store.fork("t", 2, "plain");
    const strict = await store.fork("t", 2, "strict", { isolation: "serializable" });
    await publish(store, { read: "2" });
    expect(await refusal(() => strict.commit())).toBe("WRITE_CONFLICT");
    expect(await refusal(() => plain.commit())).toBe(null);
  },
  "takes no records and no audit of the other with it": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({
      records: [
        { space: "output", step: 1, value: bytes("o") },
        { space: "saga", step: 1, seq: 1, value: bytes("u") },
        { space: "effect", seq: 1, value: bytes("e") },
      ],
      audit: [bytes("a")],
      snapshot: 2,
    });
    await store.fork("t", 2, "f", { audit: [bytes("forked")] });
    for (const space of ["output", "saga", "effect"] as const) {
      expect(await store.scanRecords(space, { transaction: "f" })).toEqual([]);
    }
    expect((await store.readAudit("f")).map((row) => text(row.payload))).toEqual(["forked"]);
    expect((await store.readAudit("t")).length).toBe(1);
  },
  "leaves the other transaction as it was": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    await tx.put("a", bytes("2"));
    await store.fork("t", 1, "f");
    expect(text(await tx.get("a"))).toBe("2");
    expect((await tx.restoreSnapshot(2)).writesReverted).toBe(1);
  },
  "refuses an unknown source, snapshot or a taken id": async ({ store, expect }) => {
    await store.begin("t");
    expect(await refusal(() => store.fork("nobody", 0, "f"))).toBe("NOT_FOUND");
    expect(await refusal(() => store.fork("t", 7, "f"))).toBe("SNAPSHOT_NOT_FOUND");
    expect(await refusal(() => store.fork("t", 0, "t"))).toBe("TRANSACTION_EXISTS");
    expect((await store.openTransactions()).map(({ id }) => id)).toEqual(["t"]);
  },
  "survives a restart": async ({ store, expect, restart }) => {
    const tx = await store.begin("t");
    await tx.apply({ writes: [{ key: "a", value: bytes("1") }], snapshot: 2 });
    await store.fork("t", 2, "f");
    const fork = await (await restart()).attach("f");
    expect(text(await fork.get("a"))).toBe("1");
    await fork.restoreSnapshot(0);
    expect(text(await fork.get("a"))).toBe("1");
  },
};
