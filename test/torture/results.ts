// Owns the results on disk: figures of runs of a suite add up, whatever seeds they had. Those of this
// checkout are in results/ and are not committed; results/reported.json is what docs/guarantees.md reports.
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { SuiteResult } from "./suite.js";

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));
const REPORTED = fileURLToPath(new URL("./results/reported.json", import.meta.url));

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

/** Of this checkout; without one, what was reported, so that a run goes on from there. */
export async function readTotal(suite: string): Promise<Total> {
  const text = await readFile(`${FOLDER}${suite}.json`, "utf8").catch(() => null);
  if (text !== null) return JSON.parse(text) as Total;
  const reported = await readFile(REPORTED, "utf8").catch(() => "[]");
  const found = (JSON.parse(reported) as Total[]).find((total) => total.suite === suite);
  if (found !== undefined) return found;
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
  const figures = sum(before.figures, result.figures);
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

type Figures = Readonly<Record<string, number>>;

function sum(one: Figures, other: Figures): Figures {
  const figures: Record<string, number> = { ...one };
  for (const [name, figure] of Object.entries(other)) {
    figures[name] = (figures[name] ?? 0) + figure;
  }
  return figures;
}

/** Replaces reported.json by the sum of what these folders of results hold. */
export async function report(folders: readonly string[]): Promise<readonly Total[]> {
  const totals = new Map<string, Total>();
  for (const folder of folders.length === 0 ? [FOLDER] : folders) {
    for (const name of (await readdir(folder)).sort()) {
      if (!name.endsWith(".json")) continue;
      const total = JSON.parse(await readFile(`${folder}/${name}`, "utf8")) as Partial<Total>;
      // Suites keep other files here too.
      if (total.suite === undefined || total.cursors === undefined) continue;
      const before = totals.get(total.suite);
      totals.set(
        total.suite,
        before === undefined ? (total as Total) : both(before, total as Total),
      );
    }
  }
  const sorted = [...totals.values()].sort((one, other) => one.suite.localeCompare(other.suite));
  await writeFile(REPORTED, `${JSON.stringify(sorted, null, 2)}\n`);
  return sorted;
}

function both(one: Total, other: Total): Total {
  return {
    ...other,
    runs: one.runs + other.runs,
    seconds: one.seconds + other.seconds,
    cycles: one.cycles + other.cycles,
    violations: one.violations + other.violations,
    figures: sum(one.figures, other.figures),
    seeds: [...new Set([...one.seeds, ...other.seeds])],
    cursors: { ...one.cursors, ...other.cursors },
    lastRun: [one.lastRun, other.lastRun].sort().at(-1) ?? "",
  };
}
