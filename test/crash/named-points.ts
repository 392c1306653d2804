// Owns the deaths at named points: victims tour, one after another, and each dies at the first
// point that none before it died at, in its work or in the recovery of what the last one left. When
// a victim finishes its tour alive, every point has had its death.
import { noteEnd, type Report, runCase } from "./campaign.js";
import type { CrashCase } from "./crash-case.js";
import type { VictimPool } from "./victim.js";

/** Victims on one directory before it is inspected. */
const LIVES_PER_CASE = 20;
/** Tours in a row that end alive before a half is done: some points are passed only now and then. */
const ALIVE_MAX = 2;
/** Far more than there are points: a hunt that does not end is a failure, not a hang. */
const LIVES_MAX = 300;

/** Points of one half, at each of which a victim died. */
export async function namedPoints(
  pool: VictimPool,
  report: Report,
  half: 0 | 1,
): Promise<readonly string[]> {
  const known = new Set<string>();
  let alive = 0;
  let lives = 0;
  while (alive < ALIVE_MAX && lives < LIVES_MAX) {
    const options = { name: `points ${half}, lives from ${lives}`, sync: false };
    await runCase(pool, report, options, async (one) => {
      for (let life = 0; life < LIVES_PER_CASE && alive < ALIVE_MAX; life += 1) {
        const point = await dieAtNext(one, report, { known, half, resume: lives % 3 === 2 });
        lives += 1;
        alive = point === null ? alive + 1 : 0;
        if (point !== null) known.add(point);
      }
    });
  }
  return [...known];
}

interface Hunt {
  readonly known: ReadonlySet<string>;
  readonly half: 0 | 1;
  readonly resume: boolean;
}

/** The point at which the victim died, or null when it finished its tour. */
async function dieAtNext(one: CrashCase, report: Report, hunt: Hunt): Promise<string | null> {
  const { half, resume } = hunt;
  const death = { kind: "hunt", known: [...hunt.known], half, atMostMs: 20_000 } as const;
  const end = await one.live({ mode: "tour", seed: 1, lanes: 1, resume, death });
  noteEnd(report, end, death);
  const dies = end.lines.find((line) => line.k === "dies");
  if (dies !== undefined && end.byFault) return dies.point;
  if (!end.lines.some(({ k }) => k === "rested")) {
    report.violations.push("a tour neither died nor ended");
  }
  return null;
}
