// Owns the suite of deaths at named points (C2, C3): each of them as often as every other. It has as
// many lanes as processors: a victim waits for its deadlines while another works.
import { cpus } from "node:os";
import { emptyReport, type Report } from "../../crash/campaign.js";
import { evenDeaths, startEven } from "../../crash/even-deaths.js";
import { VictimPool } from "../../crash/victim.js";
import { type Suite, seedOf, weaknesses } from "../suite.js";

export const points: Suite = {
  name: "points",
  about: "processes that die at every named point, at each as often as at every other (C2, C3)",
  async run({ seed, seconds, cursor, tell }) {
    const ends = Date.now() + seconds * 1_000;
    const reports: Report[] = [];
    const deaths = new Map<string, number>();
    const evenness = startEven();
    let round = Number(cursor ?? 0);
    const lane = async () => {
      const pool = new VictimPool();
      try {
        do {
          const report = { ...emptyReport(seedOf(seed, round)), points: deaths };
          round += 1;
          await evenDeaths(pool, report, evenness);
          reports.push(report);
          const fewest = Math.min(...deaths.values());
          tell(`${deaths.size} points, ${fewest} deaths or more at each, goal ${evenness.goal}`);
        } while (Date.now() < ends);
      } finally {
        await pool.close();
      }
    };
    await Promise.all(cpus().map(lane));
    const figures: Record<string, number> = {};
    for (const [name, count] of Object.entries(sum(reports))) figures[name] = count;
    for (const [name, count] of [...deaths].sort()) figures[`at ${name}`] = count;
    const kills = figures.kills ?? 0;
    return {
      cycles: kills,
      violations: reports.flatMap(({ violations }) => violations).slice(0, 100),
      figures,
      weak: weaknesses({
        "at least ten deaths": kills >= 10,
        "deaths at ten points, one for every two kills of a short run":
          deaths.size >= Math.min(kills / 2, 10),
      }),
      cursor: String(round),
    };
  },
};

function sum(reports: readonly Report[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const report of reports) {
    for (const [name, figure] of Object.entries(report)) {
      if (typeof figure !== "number" || name === "seed") continue;
      figures[name] = (figures[name] ?? 0) + figure;
    }
  }
  return figures;
}
