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
  /** Shut down with SIGTERM and ended by themselves. */
  cleanStops: number;
  commits: number;
  conflicts: number;
  rewinds: number;
  steps: number;
  resumed: number;
  deeds: number;
  undone: number;
  violations: string[];
}

export function emptyReport(seed: number): Report {
  return {
    seed,
    cases: 0,
    kills: 0,
    killsInRecovery: 0,
    cleanStops: 0,
    commits: 0,
    conflicts: 0,
    rewinds: 0,
    steps: 0,
    resumed: 0,
    deeds: 0,
    undone: 0,
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

export function noteEnd(report: Report, end: LifeEnd): void {
  if (end.signal === "SIGKILL") {
    report.kills += 1;
    if (end.inRecovery) report.killsInRecovery += 1;
  } else if (end.code === 0) report.cleanStops += 1;
}

const LIVES_PER_CASE = 4;

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
      for (let life = 0; life < lives; life += 1) {
        noteEnd(report, await one.live(randomLife(random)));
        // Depth 2: the recovery of the first death dies, and the next one too.
        for (let depth = 0; depth < 2 && random() < 0.4; depth += 1) {
          const death = { kind: "young", ms: 25 + random() * 60 } as const;
          noteEnd(report, await one.live({ ...randomLife(random), mode: "rest", death }));
        }
      }
    });
  }
}

function randomLife(random: () => number): Life {
  return {
    mode: "work",
    death: randomDeath(random),
    seed: Math.floor(random() * 2 ** 31),
    lanes: 2 + Math.floor(random() * 3),
    resume: random() < 0.4,
  };
}

function randomDeath(random: () => number): Death {
  const roll = random();
  const lines = 1 + Math.floor(random() * 160);
  if (roll < 0.15) {
    return { kind: "term", lines, killAfterMs: random() < 0.5 ? random() * 30 : null };
  }
  if (roll < 0.45) {
    const write = 1 + Math.floor(random() ** 2 * 300);
    const when = random() < 0.5 ? "before" : "after";
    return { kind: "write", plan: { write, when, kind: "kill" }, atMostMs: 10_000 };
  }
  return { kind: "work", lines, ms: random() * 20 };
}
