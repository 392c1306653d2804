// Owns the claims about base versions and first committer wins (S6-S8).

import { isAgentTxError, type WriteConflictError } from "@agenttx/model";
import type { Store, StoreTransaction } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, fingerprint, publish, refusal, text } from "./harness.js";

/** Keys of the conflict the commit ends in, or null when it went through. */
async function lostKeys(tx: StoreTransaction): Promise<string[] | null> {
  try {
    await tx.commit();
  } catch (error) {
    if (!isAgentTxError(error) || error.code !== "WRITE_CONFLICT") throw error;
    // By code, not by class: the driver may have loaded another copy of the model.
    return (error as WriteConflictError).keys.map((key) => text(key) ?? "").sort();
  }
  return null;
}

async function begin(store: Store, isolation?: "serializable"): Promise<StoreTransaction> {
  return store.begin("t", isolation === undefined ? {} : { isolation });
}

export const conflictClaims: Claims = {
  "lets the first committer win when two write one key blindly": async ({ store, expect }) => {
    const one = await store.begin("one");
    const other = await store.begin("other");
    await one.put("k", bytes("one"));
    await other.put("k", bytes("other"));
    expect(await lostKeys(one)).toBe(null);
    expect(await lostKeys(other)).toEqual(["k"]);
    expect(text(await store.get("k"))).toBe("one");
  },
  "lets two transactions with different keys both commit": async ({ store, expect }) => {
    const one = await store.begin("one");
    const other = await store.begin("other");
    await one.put("a", bytes("1"));
    await other.put("b", bytes("2"));
    expect(await lostKeys(one)).toBe(null);
    expect(await lostKeys(other)).toBe(null);
  },
  "loses no update between its first read and its write": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await tx.get("k");
    await publish(store, { k: "2" });
    await tx.put("k", bytes("from 1"));
    expect(await lostKeys(tx)).toEqual(["k"]);
    expect(text(await store.get("k"))).toBe("2");
  },
  "takes the first of two reads as its base": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await tx.get("k");
    await publish(store, { k: "2" });
    expect(text(await tx.get("k"))).toBe("2");
    await tx.put("k", bytes("v"));
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "counts a read of many keys and a scan as reads": async ({ store, expect }) => {
    await publish(store, { many: "1", scanned: "1" });
    const tx = await begin(store);
    await tx.getMany(["many"]);
    await tx.scan({ prefix: "scanned" });
    await publish(store, { many: "2", scanned: "2" });
    await tx.put("many", bytes("v"));
    await tx.put("scanned", bytes("v"));
    expect(await lostKeys(tx)).toEqual(["many", "scanned"]);
  },
  "takes a blind write's moment as its base": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await publish(store, { k: "2" });
    await tx.put("k", bytes("v"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "lets an unvalidated read grow old": async ({ store, expect }) => {
    await publish(store, { read: "1" });
    const tx = await begin(store);
    await tx.get("read");
    await publish(store, { read: "2" });
    await tx.put("other", bytes("v"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "takes deleting and creating again for a change": async ({ store, expect }) => {
    await publish(store, { k: "same" });
    const tx = await begin(store);
    await tx.put("k", bytes("mine"));
    await publish(store, { k: null });
    await publish(store, { k: "same" });
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "takes a deletion for a change": async ({ store, expect }) => {
    await publish(store, { k: "v" });
    const tx = await begin(store);
    await tx.put("k", bytes("mine"));
    await publish(store, { k: null });
    expect(await lostKeys(tx)).toEqual(["k"]);
    expect(await store.get("k")).toBe(null);
  },
  "conflicts when a key it read as absent was created since": async ({ store, expect }) => {
    const tx = await begin(store);
    expect(await tx.get("k")).toBe(null);
    await publish(store, { k: "theirs" });
    await tx.put("k", bytes("mine"));
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "conflicts on a key that both delete": async ({ store, expect }) => {
    await publish(store, { k: "v" });
    const tx = await begin(store);
    await tx.delete("k");
    await publish(store, { k: null });
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "validates a read that was asked to be validated": async ({ store, expect }) => {
    await publish(store, { parent: "1" });
    const tx = await begin(store);
    await tx.get("parent", { validate: true });
    await tx.put("child", bytes("v"));
    await publish(store, { parent: null });
    expect(await lostKeys(tx)).toEqual(["parent"]);
    expect(await store.get("child")).toBe(null);
  },
  "validates an absence that was asked to be validated": async ({ store, expect }) => {
    const tx = await begin(store);
    await tx.getMany(["a", "b"], { validate: true });
    await tx.put("k", bytes("v"));
    await publish(store, { b: "now there" });
    expect(await lostKeys(tx)).toEqual(["b"]);
  },
  "validates the first read when only a later one asks for it": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await tx.get("k");
    await publish(store, { k: "2" });
    await tx.get("k", { validate: true });
    await tx.put("other", bytes("v"));
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "commits a validated read that still holds": async ({ store, expect }) => {
    await publish(store, { parent: "1" });
    const tx = await begin(store);
    await tx.get("parent", { validate: true });
    await tx.put("child", bytes("v"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "validates every point read of a serializable transaction": async ({ store, expect }) => {
    await publish(store, { read: "1" });
    const tx = await begin(store, "serializable");
    await tx.get("read");
    await publish(store, { read: "2" });
    await tx.put("other", bytes("v"));
    expect(await lostKeys(tx)).toEqual(["read"]);
  },
  "prevents write skew between serializable transactions": async ({ store, expect }) => {
    await publish(store, { a: "on call", b: "on call" });
    const one = await store.begin("one", { isolation: "serializable" });
    const other = await store.begin("other", { isolation: "serializable" });
    for (const tx of [one, other]) await tx.getMany(["a", "b"]);
    await one.put("a", bytes("off"));
    await other.put("b", bytes("off"));
    expect(await lostKeys(one)).toBe(null);
    expect(await lostKeys(other)).toEqual(["a"]);
  },
  "allows write skew under read committed": async ({ store, expect }) => {
    await publish(store, { a: "on call", b: "on call" });
    const one = await store.begin("one");
    const other = await store.begin("other");
    for (const tx of [one, other]) await tx.getMany(["a", "b"]);
    await one.put("a", bytes("off"));
    await other.put("b", bytes("off"));
    expect(await lostKeys(one)).toBe(null);
    expect(await lostKeys(other)).toBe(null);
  },
  "refuses to scan in a serializable transaction": async ({ store, expect }) => {
    const tx = await begin(store, "serializable");
    await tx.put("k", bytes("v"));
    expect(await refusal(() => tx.scan())).toBe("SCAN_NOT_SERIALIZABLE");
    expect(text(await tx.get("k"))).toBe("v");
  },
  "keeps the isolation level over a restart": async ({ store, expect, restart }) => {
    await store.begin("t", { isolation: "serializable" });
    const again = await (await restart()).attach("t");
    expect(await refusal(() => again.scan())).toBe("SCAN_NOT_SERIALIZABLE");
  },
  "names every lost key, written and validated": async ({ store, expect }) => {
    const tx = await begin(store);
    await tx.write(["a", "b", "c"].map((key) => ({ key, value: bytes("mine") })));
    await tx.get("v", { validate: true });
    await publish(store, { a: "1", c: "1", v: "1" });
    expect(await lostKeys(tx)).toEqual(["a", "c", "v"]);
  },
  "writes nothing at all when one key of many conflicts": async ({ store, expect }) => {
    const tx = await begin(store);
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    await tx.write(keys.map((key) => ({ key, value: bytes("mine") })));
    const version = await publish(store, { k25: "theirs" });
    const before = await fingerprint(store, tx);
    const extras = {
      records: [{ space: "terminal", value: bytes("committed") }] as const,
      audit: [bytes("committed")],
      storeAudit: [bytes("committed")],
      payload: bytes("committed"),
      next: { step: 9 },
    };
    expect(await refusal(() => tx.commit(extras))).toBe("WRITE_CONFLICT");
    expect((await store.scan()).length).toBe(1);
    expect(await fingerprint(store, tx)).toBe(before);
    expect(await store.readAudit(null)).toEqual([]);
    expect((await store.stats()).commitVersion).toBe(version);
  },
  "stays open after a conflict and commits what does not conflict": async ({ store, expect }) => {
    const tx = await begin(store);
    await tx.put("fine", bytes("v"));
    await tx.createSnapshot(2);
    await tx.put("k", bytes("mine"));
    await publish(store, { k: "theirs" });
    expect(await lostKeys(tx)).toEqual(["k"]);
    await tx.restoreSnapshot(2);
    expect(await lostKeys(tx)).toBe(null);
    expect(text(await store.get("fine"))).toBe("v");
    expect(text(await store.get("k"))).toBe("theirs");
  },
  "forgets by a restore the base versions first seen after it": async ({ store, expect }) => {
    await publish(store, { read: "1", written: "1" });
    const tx = await begin(store);
    await tx.createSnapshot(2);
    await tx.get("read", { validate: true });
    await tx.put("written", bytes("mine"));
    await publish(store, { read: "2", written: "2" });
    await tx.restoreSnapshot(2);
    await tx.get("read", { validate: true });
    await tx.put("written", bytes("mine again"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "forgets by a restore a read that no write has followed": async ({ store, expect }) => {
    const tx = await begin(store);
    await tx.createSnapshot(2);
    await tx.get("read", { validate: true });
    await publish(store, { read: "1" });
    await tx.restoreSnapshot(2);
    await tx.put("k", bytes("v"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "forgets by a restore a read of before a later snapshot": async ({ store, expect }) => {
    const tx = await begin(store);
    await tx.createSnapshot(2);
    await tx.get("read", { validate: true });
    await tx.createSnapshot(3);
    await publish(store, { read: "1" });
    await tx.restoreSnapshot(2);
    await tx.put("k", bytes("v"));
    expect(await lostKeys(tx)).toBe(null);
  },
  "keeps over a restore the base versions seen before it": async ({ store, expect }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await tx.get("k");
    await tx.createSnapshot(2);
    await publish(store, { k: "2" });
    await tx.put("k", bytes("mine"));
    await tx.restoreSnapshot(2);
    await tx.put("k", bytes("mine again"));
    expect(await lostKeys(tx)).toEqual(["k"]);
  },
  "keeps written base versions over a restart": async ({ store, expect, restart }) => {
    await publish(store, { k: "1" });
    const tx = await begin(store);
    await tx.put("k", bytes("mine"));
    const opened = await restart();
    await publish(opened, { k: "2" });
    expect(await lostKeys(await opened.attach("t"))).toEqual(["k"]);
  },
  "gives every commit the next version and never one twice": async (world) => {
    const { store, expect, restart } = world;
    const versions = [
      await publish(store, { k: "1" }),
      await publish(store, { k: null }),
      await publish(store, { k: "2" }),
    ];
    const opened = await restart();
    versions.push(await publish(opened, { k: "3" }));
    const first = versions[0] ?? 0n;
    expect(versions).toEqual([first, first + 1n, first + 2n, first + 3n]);
    expect((await opened.getVersioned("k"))?.version).toBe(first + 3n);
  },
  "tells the version that wrote a value": async ({ store, expect }) => {
    const version = await publish(store, { a: "1", b: "1" });
    await publish(store, { b: "2" });
    expect(await store.getVersioned("a")).toEqual({ value: bytes("1"), version });
  },
  "sees conflicts in its own namespace only": async ({ store, expect }) => {
    const tx = await store.begin("t", { namespace: "one" });
    await tx.put("k", bytes("mine"));
    await publish(store, { k: "theirs" }, "other");
    await publish(store, { k: "theirs" });
    expect(await lostKeys(tx)).toBe(null);
  },
};
