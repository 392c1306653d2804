// Goal: the audit can be verified by us and, from the export alone, by anybody (C9); all namespaces are
// looked into; a chain that retention erased is told from one that was taken away (C10).

import { createHash } from "node:crypto";
import { type Clock, createEngine, systemClock } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { kvTools } from "@agenttx/tools";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Json, Workplace } from "./agenttx.js";

const DAY_MS = 24 * 60 * 60_000;
const place = new Workplace();
let ids: { ours: string; theirs: string; erased: string };

beforeAll(async () => {
  const store = await openStore({ path: place.data });
  let laterMs = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + laterMs };
  const engine = createEngine({
    store,
    tools: kvTools(),
    clock,
    retention: DAY_MS,
    auditRetention: 2 * DAY_MS,
  });
  const committed = async (namespace: string) => {
    const tx = await engine.begin({ namespace });
    await tx.step("kv.put", { key: "name", value: "Åsa ✓" });
    await tx.commit();
    return tx.id;
  };
  const erased = await committed("acme");
  laterMs = 3 * DAY_MS;
  expect(await engine.removeExpired()).toMatchObject({ removed: 1, auditErased: 1 });
  ids = { ours: await committed(""), theirs: await committed("acme"), erased };
  await engine.close();
  await store.close();
}, 30_000);
afterAll(() => place.remove());

it("verifies the chains of every namespace; an erased one is not missed", async () => {
  const done = await place.run(["audit", "verify", "--json"]);
  expect(done.exitCode).toBe(0);
  const { intact, chains, missing } = done.json();
  expect({ intact, missing }).toEqual({ intact: true, missing: [] });
  const names = chains.map(({ transaction, namespace }: Json) => [transaction, namespace]);
  expect(names).toEqual([
    [null, ""],
    [ids.ours, ""],
    [ids.theirs, "acme"],
  ]);
});

it("exports what another program needs to verify it", async () => {
  const done = await place.run(["audit", "export"]);
  expect(done.exitCode).toBe(0);
  const heads = new Map<string, Buffer>();
  const sha256 = (...parts: readonly Buffer[]) =>
    createHash("sha256").update(Buffer.concat(parts)).digest();
  const named = (name: string) =>
    Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name)]);
  for (const { transaction, namespace, seq, hash, payload } of done.lines()) {
    const identity =
      transaction === null
        ? Buffer.from("store")
        : Buffer.concat([named(namespace), named(transaction)]);
    const key = identity.toString("hex");
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(seq));
    const head = sha256(heads.get(key) ?? sha256(identity), number, sha256(Buffer.from(payload)));
    expect(head.toString("hex")).toBe(hash);
    heads.set(key, head);
  }
  expect(heads.size).toBe(3);
  const one = await place.run(["audit", "export", ids.theirs, "--json"]);
  expect(one.exitCode).toBe(0);
  expect(new Set(one.lines().map(({ transaction }: Json) => transaction))).toEqual(
    new Set([ids.theirs]),
  );
  expect((await place.run(["audit", "export", ids.erased])).exitCode).toBe(3);
});

it("reports a chain that is gone without a note", async () => {
  const store = await openStore({ path: place.data });
  await store.writeRecords(ids.theirs, { namespace: "acme", eraseAudit: true });
  await store.close();
  const done = await place.run(["audit", "verify", "--json"]);
  expect(done.exitCode).toBe(1);
  expect(done.json()).toMatchObject({ intact: false, missing: [ids.theirs] });
});
