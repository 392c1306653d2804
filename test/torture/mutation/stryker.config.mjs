// Owns how one pure package is mutated (T2): AGENTTX_MUTATED names it, AGENTTX_MUTATION_REPORT the
// file for the outcome. What runs once at load, such as the tables of rules, is left out: each of
// its mutants would need the whole suite, and the corpora hold the tables to what they say.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);
const name = process.env.AGENTTX_MUTATED ?? "";
const folder = `packages/${name}`;

/** Everything beside the package and what it is compiled by stays out of the copy. */
function othersIn(path, kept) {
  return readdirSync(new URL(path, root))
    .filter((entry) => !kept.includes(entry))
    .map((entry) => `/${path}${entry}`);
}

export default {
  plugins: [createRequire(import.meta.url).resolve("@stryker-mutator/vitest-runner")],
  testRunner: "vitest",
  vitest: {
    configFile: fileURLToPath(new URL("vitest.config.mjs", import.meta.url)),
    dir: folder,
    related: false,
  },
  mutate: [
    `${folder}/src/**/*.ts`,
    `!${folder}/src/**/*.test.ts`,
    `!${folder}/src/testdata/**`,
    `!${folder}/src/index.ts`,
  ],
  ignorePatterns: [
    ...othersIn("", ["packages", "package.json", "tsconfig.base.json"]),
    ...othersIn("packages/", [name]),
  ],
  ignoreStatic: true,
  coverageAnalysis: "perTest",
  concurrency: 1,
  // A busy machine must not make a mutant look caught.
  timeoutMS: 20_000,
  timeoutFactor: 4,
  tempDirName: `${tmpdir()}/agenttx-mutation-${process.pid}`,
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: process.env.AGENTTX_MUTATION_REPORT },
  allowConsoleColors: false,
};
