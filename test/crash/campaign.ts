// Owns the campaigns: random deaths by a seed, and every named point once.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CrashCase, type Death, type Life, type LifeEnd } from "./crash-case.js";
import type { VictimPool } from "./victim.js";

export interface Report {
  seed: number;
  cases: number;
  /** Victims that died of a signal they could not handle. */
  kills: number;
  killsInRecovery: number;
  /** Victims that ended by themselves, by process.exit or an error, or lost their thread. */
  wayOuts: number;
  frozen: number;
  /** Shut down with SIGTERM and ended by themselves. */
  cleanStops: number;
  commits: number;
  conflicts: number;
  rewinds: number;
  steps: number;
  resumed: number;
  deeds: number;
  undone: number;
  /** Deaths at each named point. */
  readonly points: Map<string, number>;
  violations: string[];
}

export function emptyReport(seed: number): Report {
  return {
    seed,
    cases: 0,
    kills: 0,
    killsInRecovery: 0,
    wayOuts: 0,
    frozen: 0,
    cleanStops: 0,
    commits: 0,
    conflicts: 0,
    rewinds: 0,
    steps: 0,
    resumed: 0,
    deeds: 0,
    undone: 0,
    points: new Map(),
    violations: [],
  };
}

/** mulberry32, as the victims use it. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Runs one directory to its verdict and adds it to the report. */
export async function runCase(
  pool: VictimPool,
  report: Report,
  options: { readonly name: string; readonly sync: boolean },
  work: (one: CrashCase) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "agenttx-crash-"));
  const one = await CrashCase.open(directory, pool, options.sync);
  try {
    await work(one);
    const violations = await one.inspect();
    report.violations.push(...violations.map((text) => `${options.name}: ${text}`));
    const { counts } = one.model;
    report.cases += 1;
    report.commits += counts.commits;
    report.conflicts += counts.conflicts;
    report.rewinds += counts.rewinds;
    report.steps += counts.steps;
    report.resumed += counts.resumed;
    report.deeds += one.deeds;
    report.undone += one.undone;
  } finally {
    await one.close();
    const kept = report.violations.length > 0 && process.env.AGENTTX_CRASH_KEEP !== undefined;
    if (!kept) await rm(directory, { recursive: true, force: true });
  }
}

export function noteEnd(report: Report, end: LifeEnd, death: Death): void {
  if (death.kind === "freeze") report.frozen += 1;
  if (end.signal === "SIGKILL") {
    report.kills += 1;
    if (end.inRecovery) report.killsInRecovery += 1;
    const dies = end.lines.find((line) => line.k === "dies");
    if (dies !== undefined && end.byFault) {
      report.points.set(dies.point, (report.points.get(dies.point) ?? 0) + 1);
    }
  } else if (death.kind === "leave") report.wayOuts += 1;
  else if (end.code === 0) report.cleanStops += 1;
}

const LIVES_PER_CASE = 6;
const WAYS_OUT = ["exit", "throw", "reject", "terminate"] as const;
/** Points that a life hunts at once: it dies at the first of them. */
const WANTED_MAX = 4;

/** `cycles` random deaths, several on each directory, with deaths during recovery between them. */
export async function randomDeaths(
  pool: VictimPool,
  report: Report,
  cycles: number,
): Promise<void> {
  const random = randomFrom(report.seed);
  for (let done = 0; done < cycles; ) {
    const sync = random() < 0.2;
    const lives = Math.min(LIVES_PER_CASE, cycles - done);
    done += lives;
    const name = `seed ${report.seed}, case ${report.cases}`;
    await runCase(pool, report, { name, sync }, async (one) => {
      const live = async (life: Life) => noteEnd(report, await one.live(life), life.death);
      for (let life = 0; life < lives; life += 1) {
        await live(randomLife(random, report.points));
        // Down to depth 3: the recovery of the first death dies, and so do the next ones.
        for (let depth = 0; depth < 3 && random() < 0.4; depth += 1) {
          const death: Death =
            random() < 0.5
              ? { kind: "young", ms: 25 + random() * 60 }
              : pointDeath(random, report.points);
          await live({ ...randomLife(random, report.points), mode: "rest", death });
        }
      }
    });
  }
}

function randomLife(random: () => number, points: Report["points"]): Life {
  return {
    mode: "work",
    death: randomDeath(random, points),
    seed: Math.floor(random() * 2 ** 31),
    lanes: 2 + Math.floor(random() * 3),
    resume: random() < 0.4,
  };
}

function randomDeath(random: () => number, points: Report["points"]): Death {
  const roll = random();
  const lines = 1 + Math.floor(random() * 160);
  if (roll < 0.08) {
    return { kind: "term", lines, killAfterMs: random() < 0.5 ? random() * 30 : null };
  }
  if (roll < 0.16) {
    const how = WAYS_OUT[Math.floor(random() * WAYS_OUT.length)] ?? "exit";
    // A thread is ended by the clock, from its start through its recovery into its work.
    if (how === "terminate") return { kind: "leave", how, lines: 10_000, ms: 50 + random() * 600 };
    return { kind: "leave", how, lines, ms: 0 };
  }
  if (roll < 0.2) return { kind: "freeze", lines, ms: 120 + random() * 200 };
  if (roll < 0.3) {
    const write = 1 + Math.floor(random() ** 2 * 300);
    const when = random() < 0.5 ? "before" : "after";
    return { kind: "write", plan: { write, when, kind: "kill" }, atMostMs: 10_000 };
  }
  if (roll < 0.8) return pointDeath(random, points);
  return { kind: "work", lines, ms: random() * 20 };
}

/** At a point where few died so far, or at one that is not known yet. */
function pointDeath(random: () => number, points: Report["points"]): Death {
  const rarest = [...points].sort(([, one], [, other]) => one - other).map(([name]) => name);
  const few = rarest.slice(0, Math.ceil(rarest.length / 4));
  const wanted = new Set<string>();
  for (let count = 0; count < WANTED_MAX; count += 1) {
    const name = few[Math.floor(random() * few.length)];
    if (name !== undefined) wanted.add(name);
  }
  const known = rarest.filter((name) => !wanted.has(name));
  return { kind: "point", known, lines: 40 + Math.floor(random() * 200) };
}
