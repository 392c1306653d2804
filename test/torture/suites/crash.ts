// Owns the suite of dying processes (C1-C6): the campaign of test/crash, for as long as asked. Each
// named point has a figure of its own, so that runs add up to deaths at every one of them.
import { emptyReport, type Report, randomDeaths } from "../../crash/campaign.js";
import { VictimPool } from "../../crash/victim.js";
import { type Suite, seedOf, weaknesses } from "../suite.js";

const CYCLES_PER_ROUND = 6;

function add(figures: Record<string, number>, report: Report): void {
  for (const [name, figure] of Object.entries(report)) {
    if (typeof figure !== "number" || name === "seed") continue;
    figures[name] = (figures[name] ?? 0) + figure;
  }
}

export const crash: Suite = {
  name: "crash",
  about: "processes that die, leave, freeze, at work and in recovery, at every named point (C1-C6)",
  async run({ seed, seconds, cursor }) {
    const ends = Date.now() + seconds * 1_000;
    const pool = new VictimPool();
    const figures: Record<string, number> = {};
    const violations: string[] = [];
    // Kept from round to round: the next death is where fewest have been.
    const { points } = emptyReport(seed);
    let round = Number(cursor ?? 0);
    let cycles = 0;
    try {
      for (; Date.now() < ends || cycles === 0; round += 1) {
        const report = { ...emptyReport(seedOf(seed, round)), points };
        await randomDeaths(pool, report, CYCLES_PER_ROUND);
        violations.push(...report.violations.slice(0, 20));
        add(figures, report);
        cycles += CYCLES_PER_ROUND;
      }
    } finally {
      await pool.close();
    }
    for (const [name, deaths] of [...points].sort()) figures[`at ${name}`] = deaths;
    return {
      cycles,
      violations: violations.slice(0, 100),
      figures,
      weak: weaknesses({
        "two of three cycles ended in a kill": (figures.kills ?? 0) * 3 >= cycles * 2,
        "at least one commit a cycle": (figures.commits ?? 0) >= cycles,
        "deaths at a named point for every four cycles, up to 20 points":
          points.size >= Math.min(cycles / 4, 20),
      }),
      cursor: String(round),
    };
  },
};
