// Owns the suites that run in C++ on the core alone (native/test/torture): they are started, and
// what they print is judged.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Suite, type SuiteResult, type SuiteRun, weaknesses } from "../suite.js";

const NATIVE = new URL("../../../native/", import.meta.url);
/** A build of another tree can be put in its place. */
const PROGRAM =
  process.env.AGENTTX_TORTURE_PROGRAM ??
  fileURLToPath(new URL("build/Release/agenttx_torture", NATIVE));

/** Part of a script's name: the others are left out. */
const ONLY_SCRIPT = process.env.AGENTTX_TORTURE_SCRIPT;
/** Where the suite begins, in place of its first case. */
const BEGIN_AT = process.env.AGENTTX_TORTURE_FROM ?? null;

type Figures = Readonly<Record<string, number>>;

interface CoreLine {
  readonly cycles: number;
  readonly violationCount: number;
  readonly violations: readonly string[];
  readonly cursor: string;
}

const NOT_FIGURES = new Set(["suite", "seed", "seconds", "cycles", "violations", "cursor"]);

function run(command: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, text }));
  });
}

let built: Promise<void> | null = null;

/** Builds the program when something has changed; seconds when nothing has. */
async function build(tell: SuiteRun["tell"]): Promise<void> {
  if (process.env.AGENTTX_TORTURE_PROGRAM !== undefined) return;
  built ??= (async () => {
    tell("building the program");
    const script = fileURLToPath(new URL("scripts/build.mjs", NATIVE));
    const { code } = await run(process.execPath, [script, "--torture"]);
    if (code !== 0) throw new Error("the torture program does not build");
  })();
  await built;
}

async function runCore(
  name: string,
  { seed, seconds, cursor, tell }: SuiteRun,
  demands: (figures: Figures, cycles: number) => Readonly<Record<string, boolean>>,
): Promise<SuiteResult> {
  await build(tell);
  const args = [name, "--seed", String(seed), "--seconds", String(Math.ceil(seconds))];
  const from = cursor ?? BEGIN_AT;
  if (from !== null) args.push("--from", from);
  if (ONLY_SCRIPT !== undefined) args.push("--script", ONLY_SCRIPT);
  const { code, text } = await run(PROGRAM, args);
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  if (code > 1 || code < 0 || !last.startsWith("{")) {
    throw new Error(`agenttx_torture ${name} ended with ${code}: ${text}`);
  }
  const line = JSON.parse(last) as CoreLine;
  const figures: Record<string, number> = {};
  for (const [figure, value] of Object.entries(line)) {
    const isKept = typeof value === "number" && value !== 0 && !NOT_FIGURES.has(figure);
    if (isKept) figures[figure] = value as number;
  }
  const isResumed = cursor !== null;
  return {
    cycles: line.cycles,
    violations: line.violations,
    figures,
    // What is left behind a cursor may be little.
    weak: isResumed ? [] : weaknesses(demands(figures, line.cycles)),
    cursor: line.cursor,
  };
}

function figure(figures: Figures, name: string): number {
  return figures[name] ?? 0;
}

export const coreSuites: readonly Suite[] = [
  {
    name: "faults",
    about: "every call that changes or reads a file fails, in every script (F1, F3, F4)",
    run: (run) =>
      runCore("faults", run, (figures, cycles) => ({
        "at least one fault in two met a call": figure(figures, "fired") * 2 >= cycles,
        "a store was repaired in place": figure(figures, "reopened") > 0,
      })),
  },
  {
    name: "power",
    about: "power fails at every call; unsynced data is dropped, torn, reordered (F2)",
    run: (run) =>
      runCore("power", run, (figures, cycles) => ({
        "at least 200 cuts": cycles >= 200,
        "at least 20 different disks": figure(figures, "images") >= 20,
      })),
  },
  {
    name: "damage",
    about: "bits flipped, files cut, blanked and removed, of every sort (D1)",
    run: (run) =>
      runCore("damage", run, (figures, cycles) => ({
        "at least 20 cases": cycles >= 20,
        "damage was refused": figure(figures, "refused") > 0,
        "damage was harmless": figure(figures, "right") > 0,
      })),
  },
  {
    name: "memory",
    about: "memory runs out at every allocation of the core, in every script (A7)",
    run: (run) =>
      runCore("memory", run, (figures, cycles) => ({
        "at least 20 cases": cycles >= 20,
        "memory ran out in all but the last case of a script":
          figure(figures, "fired") + figure(figures, "complete") >= cycles,
        "an act worked when it was repeated": figure(figures, "right") > 0,
        "at most one case in ten ended its process": figure(figures, "ended") * 10 <= cycles,
      })),
  },
  {
    name: "fuzz",
    about: "keys and records, random and mutated (Z1, Z2)",
    run: (run) =>
      runCore("fuzz", run, (_figures, cycles) => ({ "at least 40,000 cases": cycles >= 40_000 })),
  },
];
