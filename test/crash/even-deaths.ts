// Owns the campaign that dies at every named point as often as at every other: victims tour or work
// on directories that the ones before left, and each dies at the first point that is behind the
// others, in its work or in the recovery of what was left.
import { noteEnd, type Report, randomFrom, runCase } from "./campaign.js";
import type { Death, Life } from "./crash-case.js";
import type { VictimPool } from "./victim.js";

const LIVES_PER_CASE = 30;
/** Deaths at each point before those that have as many are passed alive. */
const ROUND = 10;
/** Lives in a row that met no point that is behind: what is left is passed only now and then. */
const ALIVE_MAX = 3;
/** More than a victim says before it rests. */
const LINES_MAX = 10_000;

/** How far the campaign is: deaths at each point before it goes on to the next round. */
export interface Evenness {
  goal: number;
  alive: number;
}

/** One directory: `LIVES_PER_CASE` lives, then its inspection. */
export async function evenDeaths(
  pool: VictimPool,
  report: Report,
  evenness: Evenness,
): Promise<void> {
  const random = randomFrom(report.seed);
  const name = `even deaths, seed ${report.seed}`;
  await runCase(pool, report, { name, sync: random() < 0.2 }, async (one) => {
    for (let lives = 0; lives < LIVES_PER_CASE; lives += 1) {
      const { points } = report;
      const known = [...points].filter(([, deaths]) => deaths >= evenness.goal);
      const death: Death = {
        kind: "point",
        known: known.map(([point]) => point),
        lines: LINES_MAX,
      };
      const life: Life = {
        // The tour passes nearly all of them, a random workload the rest.
        mode: random() < 0.9 ? "tour" : "work",
        death,
        seed: Math.floor(random() * 2 ** 31),
        lanes: 1,
        resume: random() < 0.4,
      };
      const end = await one.live(life);
      noteEnd(report, end, death);
      evenness.alive = end.byFault ? 0 : evenness.alive + 1;
      if (evenness.alive < ALIVE_MAX) continue;
      evenness.goal = evenness.goal < ROUND ? ROUND : evenness.goal + ROUND;
      evenness.alive = 0;
    }
  });
}

/** The first round is one death at each point: a short run sees as many of them as it has lives. */
export function startEven(): Evenness {
  return { goal: 1, alive: 0 };
}
