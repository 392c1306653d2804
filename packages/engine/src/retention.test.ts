// Goal: a hold keeps what retention would remove, and a dry run removes nothing (C10).
import { expect, it } from "vitest";
import { harness } from "./testing/harness.js";

const DAY_MS = 24 * 3_600_000;

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

it("refuses a hold without a reason", async () => {
  const { engine } = harness([]);
  const refused = engine.holdRecords("t", { actor: "legal", reason: " " });
  await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
