// Goal: bug report 13. Recovery at start never adopts what this start has begun.
import { describe, expect, it } from "vitest";
import { DRIVERS, start } from "./drivers.js";
import { outside } from "./tools.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it("13: a step sent while recovery scans runs once and is not undone", async () => {
    const { tool, log } = outside("charge");
    const { engine, restart } = await start(driver, [tool]);
    const left = await engine.begin();
    await left.step("charge", { item: "left" });
    let sent = 0;
    let current = engine;
    for (let round = 0; round < (driver.name === "memory" ? 200 : 10); round += 1) {
      current = await restart();
      const recovering = current.recover();
      const tx = await current.begin();
      const step = tx.step("charge", { item: `new ${round}` });
      sent += 1;
      const [report, outcome] = await Promise.all([recovering, step]);
      expect(outcome).toMatchObject({ status: "SUCCESS" });
      expect(report.rolledBack).toBe(round === 0 ? 1 : 0);
      await tx.commit();
      await current.close();
    }
    expect(log.filter((line) => line.startsWith("do new"))).toHaveLength(sent);
    expect(log.filter((line) => line.startsWith("undo"))).toEqual(["undo left"]);
  });
});
