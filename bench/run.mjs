#!/usr/bin/env node
// Owns the command `pnpm bench`: which workloads run, and where the results go.
//
//   pnpm bench                       all workloads; writes bench/results/
//   pnpm bench <name> [--json]       one; with --json the last line of stdout is its result object
//   --long   more rounds, and the parts that take minutes    --quick   a smoke run of seconds
//   --minutes N  how long soak drives the server (default 10)
//   --seed N (default 1)             --save   merge one workload's result into bench/results/
import { parseArguments, USAGE } from "./harness/arguments.mjs";
import { runWorkload, WORKLOADS } from "./harness/run-workload.mjs";
import { printResult, saveResults } from "./report/results.mjs";

async function main() {
  const options = parseArguments(process.argv.slice(2), WORKLOADS);
  if (options.problem !== null) {
    process.stderr.write(`bench: ${options.problem}\n${USAGE}`);
    return 2;
  }
  const names = options.name === null ? WORKLOADS : [options.name];
  const results = [];
  for (const name of names) {
    const result = await runWorkload(name, options);
    printResult(result, process.stderr);
    results.push(result);
  }
  if (options.save) await saveResults(results, { merge: options.name !== null });
  if (options.json)
    for (const result of results) process.stdout.write(`${JSON.stringify(result)}\n`);
  return results.every(({ problem }) => problem === null) ? 0 : 1;
}

process.exitCode = await main();
