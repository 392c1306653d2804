// Owns the claims about audit chains and their formula (C9), computed here a second time.

import { createHash } from "node:crypto";
import type { AuditEntry, Bytes, EndedBatch } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, publish, refusal, text } from "./harness.js";

function sha256(...parts: readonly Bytes[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Hash before the first entry: of the chain's identity, so that chains cannot be swapped. */
function start(transaction: string | null, namespace: string): Bytes {
  if (transaction === null) return sha256(bytes("store"));
  const named = [namespace, transaction].map((name) => {
    const text = bytes(name);
    return Buffer.concat([Buffer.from([text.length]), text]);
  });
  return sha256(...named);
}

/** Hex of the hashes that these payloads must have from the start of a chain. */
function expected(
  transaction: string | null,
  payloads: readonly (string | null)[],
  namespace = "",
): string[] {
  let previous = start(transaction, namespace);
  return payloads.map((payload, index) => {
    const seq = Buffer.alloc(8);
    seq.writeBigUInt64BE(BigInt(index + 1));
    previous = sha256(previous, seq, sha256(bytes(payload ?? "")));
    return Buffer.from(previous).toString("hex");
  });
}

function hashes(entries: readonly AuditEntry[]): string[] {
  return entries.map(({ hash }) => Buffer.from(hash).toString("hex"));
}

function payloads(entries: readonly AuditEntry[]): (string | null)[] {
  return entries.map(({ payload }) => text(payload));
}

export const auditClaims: Claims = {
  "has the published hash of a first entry": async ({ store, expect }) => {
    await store.begin("t", { audit: [bytes("a")] });
    expect(hashes(await store.readAudit("t"))).toEqual([
      "5abb24f7536738fdb5cf5c21896bc328381bfee7e2e9f7cbfcdbe5478cf9938e",
    ]);
  },
  "chains the entries of all batches of a transaction": async ({ store, expect }) => {
    const tx = await store.begin("t", { audit: [bytes("begin")] });
    await tx.apply({ audit: [bytes("one"), bytes("two")] });
    await tx.restoreSnapshot(1, { audit: [bytes("rewind")] });
    await tx.commit({ audit: [bytes("commit")] });
    await store.writeRecords("t", { audit: [bytes("after")] });
    const entries = await store.readAudit("t");
    const all = ["begin", "one", "two", "rewind", "commit", "after"];
    expect(payloads(entries)).toEqual(all);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(hashes(entries)).toEqual(expected("t", all));
  },
  "chains each transaction for itself": async ({ store, expect }) => {
    const one = await store.begin("t");
    const other = await store.begin("t1");
    const third = await store.begin("t", { namespace: "n" });
    for (const word of ["x", "y"]) {
      await one.apply({ audit: [bytes(`one ${word}`)] });
      await other.apply({ audit: [bytes(`other ${word}`)] });
      await third.apply({ audit: [bytes(`third ${word}`)] });
    }
    expect(hashes(await store.readAudit("t"))).toEqual(expected("t", ["one x", "one y"]));
    expect(hashes(await store.readAudit("t1"))).toEqual(expected("t1", ["other x", "other y"]));
    const rows = await store.readAudit("t", { namespace: "n" });
    expect(hashes(rows)).toEqual(expected("t", ["third x", "third y"], "n"));
  },
  "has one chain for the store, fed by all transactions": async ({ store, expect }) => {
    const one = await store.begin("one");
    const other = await store.begin("other");
    await one.apply({ storeAudit: [bytes("1")] });
    await other.discard({ storeAudit: [bytes("2")] });
    await one.commit({ storeAudit: [bytes("3")] });
    await store.writeRecords("", { storeAudit: [bytes("4")] });
    const entries = await store.readAudit(null);
    expect(payloads(entries)).toEqual(["1", "2", "3", "4"]);
    expect(hashes(entries)).toEqual(expected(null, ["1", "2", "3", "4"]));
  },
  "goes on after a restart where it was": async ({ store, expect, restart }) => {
    const tx = await store.begin("t", { audit: [bytes("1")] });
    await tx.apply({ storeAudit: [bytes("s1")] });
    const opened = await restart();
    const again = await opened.attach("t");
    await again.apply({ audit: [bytes("2")], storeAudit: [bytes("s2")] });
    expect(hashes(await opened.readAudit("t"))).toEqual(expected("t", ["1", "2"]));
    expect(hashes(await opened.readAudit(null))).toEqual(expected(null, ["s1", "s2"]));
  },
  "outlives its transaction, committed or discarded": async ({ store, expect }) => {
    await (await store.begin("c", { audit: [bytes("1")] })).commit({ audit: [bytes("2")] });
    await (await store.begin("d", { audit: [bytes("1")] })).discard({ audit: [bytes("2")] });
    for (const id of ["c", "d"]) {
      expect(hashes(await store.readAudit(id))).toEqual(expected(id, ["1", "2"]));
    }
  },
  "is erased when asked, with what is written instead, and its id can begin again": async ({
    store,
    expect,
    restart,
  }) => {
    await (await store.begin("t", { audit: [bytes("1")] })).discard({ audit: [bytes("2")] });
    await (await store.begin("t1", { audit: [bytes("other")] })).discard();
    expect(await refusal(() => store.begin("t"))).toBe("TRANSACTION_EXISTS");
    await store.writeRecords("t", { eraseAudit: true, storeAudit: [bytes("erased")] });
    expect(await store.readAudit("t")).toEqual([]);
    expect(hashes(await store.readAudit("t1"))).toEqual(expected("t1", ["other"]));
    expect(payloads(await store.readAudit(null))).toEqual(["erased"]);
    expect(await refusal(() => store.writeRecords("t", { audit: [bytes("x")] }))).toBe("NOT_FOUND");
    await store.writeRecords("t", { eraseAudit: true });
    const opened = await restart();
    expect(await opened.readAudit("t")).toEqual([]);
    await opened.begin("t", { audit: [bytes("new")] });
    expect(hashes(await opened.readAudit("t"))).toEqual(expected("t", ["new"]));
  },
  "is not erased while its transaction is open, of nobody, or with entries for it": async ({
    store,
    expect,
  }) => {
    const tx = await store.begin("t", { audit: [bytes("1")] });
    const refused = async (id: string, batch: EndedBatch) =>
      expect(await refusal(() => store.writeRecords(id, batch))).toBe("INVALID_ARGUMENT");
    await refused("t", { eraseAudit: true });
    await refused("", { eraseAudit: true });
    await tx.discard();
    await refused("t", { eraseAudit: true, audit: [bytes("2")] });
    expect(hashes(await store.readAudit("t"))).toEqual(expected("t", ["1"]));
  },
  "reads a part by number and by limit": async ({ store, expect }) => {
    const words = Array.from({ length: 300 }, (_, index) => `w${index + 1}`);
    await store.begin("t", { audit: words.map(bytes) });
    const part = await store.readAudit("t", { fromSeq: 255, limit: 3 });
    expect(part.map(({ seq }) => seq)).toEqual([255, 256, 257]);
    expect(payloads(part)).toEqual(["w255", "w256", "w257"]);
    expect(await store.readAudit("t", { fromSeq: 301 })).toEqual([]);
    expect(hashes(await store.readAudit("t"))).toEqual(expected("t", words));
  },
  "is empty for a transaction nobody began": async ({ store, expect }) => {
    await publish(store, { k: "v" });
    expect(await store.readAudit("nobody")).toEqual([]);
    expect(await store.readAudit(null)).toEqual([]);
  },
  "takes empty and large payloads": async ({ store, expect }) => {
    const large = "x".repeat(1024 * 1024);
    await store.begin("t", { audit: [bytes(""), bytes(large)] });
    expect(hashes(await store.readAudit("t"))).toEqual(expected("t", ["", large]));
  },
};
