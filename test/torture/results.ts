// Owns the results on disk: figures of runs of a suite add up, whatever seeds they had.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { SuiteResult } from "./suite.js";

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

export interface Total {
  readonly suite: string;
  readonly machine: string;
  readonly runs: number;
  readonly seconds: number;
  readonly cycles: number;
  readonly violations: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly seeds: readonly number[];
  /** By seed: where it goes on. */
  readonly cursors: Readonly<Record<string, string>>;
  readonly lastRun: string;
}

export async function readTotal(suite: string): Promise<Total> {
  const text = await readFile(`${FOLDER}${suite}.json`, "utf8").catch(() => null);
  if (text !== null) return JSON.parse(text) as Total;
  return {
    suite,
    machine: `${cpus().length} cores, Node ${process.version}`,
    runs: 0,
    seconds: 0,
    cycles: 0,
    violations: 0,
    figures: {},
    seeds: [],
    cursors: {},
    lastRun: "",
  };
}

export async function addToTotal(
  suite: string,
  seed: number,
  seconds: number,
  result: SuiteResult,
): Promise<Total> {
  const before = await readTotal(suite);
  const figures: Record<string, number> = { ...before.figures };
  for (const [name, figure] of Object.entries(result.figures)) {
    figures[name] = (figures[name] ?? 0) + figure;
  }
  const total: Total = {
    ...before,
    runs: before.runs + 1,
    seconds: Math.round(before.seconds + seconds),
    cycles: before.cycles + result.cycles,
    violations: before.violations + result.violations.length,
    figures,
    seeds: [...new Set([...before.seeds, seed])],
    cursors: result.cursor === null ? before.cursors : { ...before.cursors, [seed]: result.cursor },
    lastRun: new Date().toISOString(),
  };
  await mkdir(FOLDER, { recursive: true });
  const path = `${FOLDER}${suite}.json`;
  await writeFile(`${path}.new`, `${JSON.stringify(total, null, 2)}\n`);
  await rename(`${path}.new`, path);
  return total;
}
