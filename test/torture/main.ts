// Owns the command line: which suites run, for how long, with which seed, and the verdict.
import { addToTotal, readTotal, report } from "./results.js";
import type { Suite, SuiteResult } from "./suite.js";
import { SUITES } from "./suites.js";

interface Arguments {
  readonly suites: readonly Suite[];
  readonly seconds: number;
  readonly seed: number;
  readonly resume: boolean;
  readonly json: boolean;
}

const USAGE =
  "usage: pnpm torture [suite|list|report FOLDER...] [--minutes N] [--seconds N] [--seed S] [--resume] [--json]";

function parse(args: readonly string[]): Arguments | string {
  let suites: readonly Suite[] = SUITES.filter(({ isByName }) => isByName !== true);
  let seconds = 60;
  let seed = Math.floor(Math.random() * 2 ** 31);
  let resume = false;
  let json = false;
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--resume") resume = true;
    else if (word === "--json") json = true;
    else if (word === "--minutes" || word === "--seconds" || word === "--seed") {
      const number = Number(words.shift());
      if (!Number.isFinite(number) || number < 0) return `${word} takes a number`;
      if (word === "--seed") seed = Math.floor(number);
      else seconds = word === "--minutes" ? number * 60 : number;
    } else if (word.startsWith("-")) return `unknown option ${word}`;
    else {
      const asked = word;
      suites = SUITES.filter(({ name }) => name === asked);
      if (suites.length === 0) return `unknown suite ${word}`;
    }
  }
  return { suites, seconds, seed, resume, json };
}

/** Runs one suite, prints it, and adds it to the results. True: it holds and was not weak. */
async function runOne(suite: Suite, seconds: number, options: Arguments): Promise<boolean> {
  const { seed } = options;
  const tell = (line: string) => process.stderr.write(`torture ${suite.name}: ${line}\n`);
  const cursor = options.resume ? ((await readTotal(suite.name)).cursors[seed] ?? null) : null;
  tell(`seed ${seed}, ${Math.round(seconds)} s${cursor === null ? "" : `, from ${cursor}`}`);
  const started = Date.now();
  const result: SuiteResult = await suite.run({ seed, seconds, cursor, tell });
  const took = (Date.now() - started) / 1_000;
  await addToTotal(suite.name, seed, took, result);
  for (const violation of result.violations) tell(`VIOLATION ${violation}`);
  for (const reason of result.weak) tell(reason);
  const figures = Object.entries(result.figures).map(([name, figure]) => `${name} ${figure}`);
  tell(`${result.cycles} cycles in ${took.toFixed(1)} s; ${figures.join(", ")}`);
  const holds = result.violations.length === 0 && result.weak.length === 0;
  tell(holds ? "holds" : "FAILED");
  if (options.json) {
    const line = { suite: suite.name, seed, seconds: took, ...result };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  return holds;
}

/** The exit code: 0 when every suite holds, 1 when one does not, 2 for a wrong command line. */
export async function main(args: readonly string[]): Promise<number> {
  if (args[0] === "list") {
    for (const { name, about, isByName } of SUITES) {
      const when = isByName === true ? "; only when named, and as long as it takes" : "";
      process.stdout.write(`${name.padEnd(10)} ${about}${when}\n`);
    }
    return 0;
  }
  if (args[0] === "report") {
    for (const { suite, cycles, violations, seconds } of await report(args.slice(1))) {
      process.stdout.write(`${suite.padEnd(10)} ${cycles} cycles, ${seconds} s, `);
      process.stdout.write(`${violations} violations\n`);
    }
    return 0;
  }
  const options = parse(args);
  if (typeof options === "string") {
    process.stderr.write(`torture: ${options}\n${USAGE}\n`);
    return 2;
  }
  let holds = true;
  for (const suite of options.suites) {
    holds = (await runOne(suite, options.seconds / options.suites.length, options)) && holds;
  }
  return holds ? 0 : 1;
}
