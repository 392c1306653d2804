// Goal: a process that dies anywhere, also while it recovers from an earlier death, loses nothing
// that it acknowledged and leaves nothing half done. The driver, which never dies, hears every
// acknowledgement, is the world outside, and compares both with what is on disk.
//
//   AGENTTX_LONG=1 AGENTTX_CRASH_CYCLES=n   n random deaths instead of the slice for CI
//   AGENTTX_CRASH_SEED=n                    repeats a seed; AGENTTX_CRASH_KEEP=1 keeps directories
import { afterAll, expect, it } from "vitest";
import { emptyReport, type Report, randomDeaths } from "./campaign.js";
import { namedPoints } from "./named-points.js";
import { VictimPool } from "./victim.js";

const CYCLES_IN_CI = 26;
const LONG = process.env.AGENTTX_LONG === "1";
const CYCLES = LONG ? Number(process.env.AGENTTX_CRASH_CYCLES ?? 500) : CYCLES_IN_CI;
const SEED = Number(process.env.AGENTTX_CRASH_SEED ?? Date.now() % 2 ** 31);
const TIMEOUT_MS = LONG ? 24 * 3_600_000 : 300_000;

const pool = new VictimPool();
afterAll(() => pool.close());

it.concurrent(
  "loses nothing and leaves nothing half done when killed at random",
  async () => {
    const report = emptyReport(SEED);
    await randomDeaths(pool, report, CYCLES);
    print("random deaths", report);
    expect(report.violations).toEqual([]);
    // A run that hardly died, or hardly worked, proves nothing.
    expect(report.kills).toBeGreaterThanOrEqual(Math.floor(CYCLES * 0.7));
    expect(report.points.size).toBeGreaterThanOrEqual(Math.min(8, Math.floor(CYCLES / 3)));
    expect(report.commits).toBeGreaterThanOrEqual(CYCLES);
    expect(report.undone).toBeGreaterThanOrEqual(CYCLES);
    expect(report.killsInRecovery).toBeGreaterThanOrEqual(1);
  },
  TIMEOUT_MS,
);

it.concurrent.each([0, 1] as const)(
  "keeps its promises when killed at every named point of half %i",
  async (half) => {
    const report = emptyReport(half);
    const points = await namedPoints(pool, report, half);
    print(`${points.length} named points`, report);
    expect(report.violations).toEqual([]);
    // Before and after each kind of write and call, in work and in recovery.
    expect(points.length).toBeGreaterThanOrEqual(30);
    expect(points.filter((name) => name.startsWith("recovery")).length).toBeGreaterThanOrEqual(8);
  },
  TIMEOUT_MS,
);

function print(what: string, { violations, points, ...figures }: Report): void {
  const told = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`);
  console.log(
    `crash: ${what}: ${told.join(", ")}, named points ${points.size}, violations ${violations.length}`,
  );
}
