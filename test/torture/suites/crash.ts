// Owns the suite of dying processes (C1-C4): the campaign of test/crash, for as long as asked.
import { emptyReport, randomDeaths } from "../../crash/campaign.js";
import { VictimPool } from "../../crash/victim.js";
import { type Suite, seedOf, weaknesses } from "../suite.js";

const CYCLES_PER_ROUND = 4;

export const crash: Suite = {
  name: "crash",
  about: "processes killed at random while they work and recover (C1-C4)",
  async run({ seed, seconds, cursor }) {
    const ends = Date.now() + seconds * 1_000;
    const pool = new VictimPool();
    const figures: Record<string, number> = {};
    const violations: string[] = [];
    let round = Number(cursor ?? 0);
    let cycles = 0;
    try {
      for (; Date.now() < ends || cycles === 0; round += 1) {
        const report = emptyReport(seedOf(seed, round));
        await randomDeaths(pool, report, CYCLES_PER_ROUND);
        violations.push(...report.violations.slice(0, 20));
        for (const [name, figure] of Object.entries(report)) {
          if (typeof figure !== "number" || name === "seed") continue;
          figures[name] = (figures[name] ?? 0) + figure;
        }
        cycles += CYCLES_PER_ROUND;
      }
    } finally {
      await pool.close();
    }
    return {
      cycles,
      violations: violations.slice(0, 100),
      figures,
      weak: weaknesses({
        "two of three cycles ended in a kill": (figures.kills ?? 0) * 3 >= cycles * 2,
        "at least one commit a cycle": (figures.commits ?? 0) >= cycles,
      }),
      cursor: String(round),
    };
  },
};
