// Goal: a hold keeps what retention would remove, and a dry run removes nothing;
// the audit has a time of its own (C10).
import { describe, expect, it } from "vitest";
import { harness } from "./testing/harness.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

it("keeps what is held, until the hold is lifted", async () => {
  const { engine, clock } = harness([], { retention: DAY_MS });
  const tx = await engine.begin();
  await tx.commit();
  await engine.holdRecords(tx.id, { actor: "legal", reason: "case 7" });
  await clock.advance(3 * DAY_MS);
  expect(await engine.removeExpired()).toMatchObject({ looked: 1, held: 1, removed: 0 });
  expect((await engine.get(tx.id)).status).toBe("COMMITTED");
  await engine.liftHold(tx.id, { actor: "legal" });
  expect(await engine.removeExpired({ dryRun: true })).toMatchObject({ held: 0, removed: 1 });
  expect((await engine.get(tx.id)).status).toBe("COMMITTED");
  expect(await engine.removeExpired()).toMatchObject({ removed: 1 });
  await expect(engine.get(tx.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

// The clock also runs the hourly sweep: what is past its time is gone after an advance.
describe("the audit chain", () => {
  const settings = { retention: HOUR_MS, auditRetention: 10 * HOUR_MS };

  it("outlives the rest by its own time, then the store's chain tells that it was erased", async () => {
    const { engine, clock, store } = harness([], settings);
    const namespace = "n";
    const tx = await engine.begin({ namespace });
    await tx.commit();
    await clock.advance(2 * HOUR_MS);
    await expect(engine.get(tx.id, { namespace })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const chain = await store.readAudit(tx.id, { namespace });
    expect(chain.length).toBeGreaterThan(0);
    await clock.advance(9 * HOUR_MS);
    expect(await store.readAudit(tx.id, { namespace })).toEqual([]);
    const told = (await store.readAudit(null)).at(-1)?.payload ?? new Uint8Array();
    expect(JSON.parse(Buffer.from(told).toString("utf8"))).toMatchObject({
      k: "audit-erased",
      tx: tx.id,
      ns: namespace,
      entries: chain.length,
      hash: Buffer.from(chain.at(-1)?.hash ?? []).toString("hex"),
    });
    expect(await engine.removeExpired()).toMatchObject({ auditErased: 0 });
  });

  it("is kept while it is held; a dry run erases nothing", async () => {
    const { engine, clock, store } = harness([], settings);
    const tx = await engine.begin();
    await tx.commit();
    await clock.advance(2 * HOUR_MS);
    await engine.holdRecords(tx.id, { actor: "legal", reason: "case 7" });
    await clock.advance(20 * HOUR_MS);
    const chain = await store.readAudit(tx.id);
    expect(chain).not.toEqual([]);
    await engine.liftHold(tx.id, { actor: "legal" });
    expect(await engine.removeExpired({ dryRun: true })).toMatchObject({ auditErased: 1 });
    expect(await store.readAudit(tx.id)).toEqual(chain);
    expect(await engine.removeExpired()).toMatchObject({ auditErased: 1 });
    expect(await store.readAudit(tx.id)).toEqual([]);
  });

  it("is kept for ever when told", async () => {
    const { engine, clock, store } = harness([], { ...settings, auditRetention: 0 });
    const tx = await engine.begin();
    await tx.commit();
    await clock.advance(30 * HOUR_MS);
    expect(await store.readAudit(tx.id)).not.toEqual([]);
  });
});

it("refuses a hold without a reason", async () => {
  const { engine } = harness([]);
  const refused = engine.holdRecords("t", { actor: "legal", reason: " " });
  await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
