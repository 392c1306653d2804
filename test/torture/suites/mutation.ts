// Owns the mutation score of the pure packages (T2): Stryker changes their code in one place at a
// time, and a test of the package has to notice. The report of each stays in results/.
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Suite, SuiteRun } from "../suite.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CONFIG = fileURLToPath(new URL("../mutation/stryker.config.mjs", import.meta.url));
const RESULTS = new URL("../results/", import.meta.url);
const SCORE_MIN = 80;
const PACKAGES = ["policy", "ledger", "hints"];
/** One of them, or all. */
const ONLY = process.env.AGENTTX_MUTATION;

interface Report {
  readonly files: Readonly<
    Record<string, { readonly mutants: readonly { readonly status: string }[] }>
  >;
}

/** What Stryker tells goes to stderr, a line about each tenth. */
function stryker(name: string, report: string, tell: SuiteRun["tell"]): Promise<number> {
  return new Promise((resolve, reject) => {
    const program = `${ROOT}node_modules/@stryker-mutator/core/bin/stryker.js`;
    const child = spawn("nice", [process.execPath, program, "run", CONFIG], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, AGENTTX_MUTATED: name, AGENTTX_MUTATION_REPORT: report },
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        for (const line of text.split("\n")) if (line !== "") tell(`${name}: ${line}`);
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
}

async function statusesOf(report: string): Promise<ReadonlyMap<string, number>> {
  const { files } = JSON.parse(await readFile(report, "utf8")) as Report;
  const counts = new Map<string, number>();
  for (const { status } of Object.values(files).flatMap(({ mutants }) => mutants)) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

export const mutation: Suite = {
  name: "mutation",
  isByName: true,
  about: "policy, ledger and hints changed in one place at a time (T2); takes as long as it takes",
  async run({ tell }) {
    await mkdir(RESULTS, { recursive: true });
    const figures: Record<string, number> = {};
    const weak: string[] = [];
    let cycles = 0;
    for (const name of PACKAGES.filter((one) => ONLY === undefined || ONLY === one)) {
      const report = fileURLToPath(new URL(`mutation-${name}.json`, RESULTS));
      const code = await stryker(name, report, tell);
      if (code !== 0) throw new Error(`Stryker ended with ${code} for ${name}`);
      const counts = await statusesOf(report);
      const count = (status: string): number => counts.get(status) ?? 0;
      const detected = count("Killed") + count("Timeout");
      const tried = detected + count("Survived") + count("NoCoverage");
      const score = Math.round((1_000 * detected) / tried) / 10;
      cycles += tried;
      figures[`${name} tried`] = tried;
      figures[`${name} caught`] = detected;
      figures[`${name} caught by time`] = count("Timeout");
      figures[`${name} left out`] = count("Ignored");
      tell(`${name}: ${score} % of ${tried} mutants caught`);
      if (!(score >= SCORE_MIN)) weak.push(`too weak: ${name} catches ${score} % of its mutants`);
    }
    return { cycles, violations: [], figures, weak, cursor: null };
  },
};
