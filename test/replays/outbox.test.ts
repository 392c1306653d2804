// Goal: bug report 43. A staged effect is done only when its send was acknowledged; failed sends
// are repeated with the same id, also by the next process.
import { defineTool } from "@agenttx/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DRIVERS, start, timeUntil, withTime } from "./drivers.js";

function sink(failures: number) {
  const attempts: string[] = [];
  const delivered: string[] = [];
  const tool = defineTool({
    name: "send",
    schema: z.strictObject({ to: z.string() }),
    effect: "irreversible",
    irreversible: "staged",
    execute(_args, { idempotencyKey }) {
      attempts.push(idempotencyKey);
      if (attempts.length <= failures) throw new Error("503 Service Unavailable");
      delivered.push(idempotencyKey);
      return null;
    },
  });
  return { tool, attempts, delivered };
}

describe.each(DRIVERS)("on $name", (driver) => {
  it("43: a sink that fails twice gets three attempts and one delivery under one id", async () => {
    const { tool, attempts, delivered } = sink(2);
    const { engine, clock } = await start(driver, [tool]);
    const tx = await engine.begin();
    await tx.step("send", { to: "a" });
    await withTime(clock, tx.commit());
    await timeUntil(clock, () => delivered.length > 0);
    expect(attempts).toHaveLength(3);
    expect(new Set(attempts).size).toBe(1);
    expect(delivered).toHaveLength(1);
    await clock.advance(600_000);
    expect(attempts).toHaveLength(3);
  });

  it("43: a process that dies after a failed attempt leaves it to the next one", async () => {
    const { tool, attempts, delivered } = sink(1);
    const { engine, clock, restart } = await start(driver, [tool], {
      effects: { inlineTries: 1 },
      deliveryBudgetMs: 1,
    });
    const tx = await engine.begin();
    await tx.step("send", { to: "a" });
    expect(await withTime(clock, tx.commit())).toMatchObject({ status: "COMMITTED" });
    await engine.close();
    const tried = attempts.length;
    const later = await restart();
    await later.recover();
    await timeUntil(clock, () => delivered.length > 0);
    expect(attempts.length).toBeGreaterThanOrEqual(Math.max(tried, 2));
    expect(delivered).toHaveLength(1);
    expect(new Set(attempts).size).toBe(1);
  });
});
