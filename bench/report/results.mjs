// Owns where results go: the screen, bench/results/latest.json, .md and chart.svg.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WORKLOADS } from "../harness/run-workload.mjs";
import { chart } from "./chart.mjs";
import { goalText, markdown, measuredText } from "./markdown.mjs";

const FOLDER = new URL("../results/", import.meta.url);

export function printResult(result, out) {
  out.write(`\n${result.title}: ${result.machine.cpu}, ${result.machine.usableCores} cores, `);
  out.write(`Node ${result.versions.node}, RocksDB ${result.versions.rocksdb}, `);
  out.write(`seed ${result.seed}, load ${result.machine.loadAtStart[0]}\n`);
  for (const [group, rows] of Object.entries(result.figures)) {
    out.write(`  ${group}\n`);
    for (const [name, row] of Object.entries(rows)) {
      const cells = Object.entries(row).map(([label, value]) => `${label} ${value}`);
      out.write(`    ${name.padEnd(34)} ${cells.join("  ")}\n`);
    }
  }
  for (const [name, value] of Object.entries(result.ratios)) {
    const quiet = result.quietRatios[name];
    const beside = quiet === undefined ? "" : `  (fastest tenths: ${quiet})`;
    out.write(`  ratio ${name.padEnd(30)} ${value}${beside}\n`);
  }
  if (result.problem !== null) out.write(`  PROBLEM ${result.problem}\n`);
  for (const goal of result.goals) {
    const verdict = goal.met ? "met" : "MISSED";
    out.write(`  ${verdict.padEnd(7)}${goal.what}: ${measuredText(goal)} (${goalText(goal)})\n`);
  }
}

/** With `merge`, results of other workloads stay as they were. */
export async function saveResults(results, { merge }) {
  await mkdir(FOLDER, { recursive: true });
  const kept = merge ? await savedResults() : [];
  const names = new Set(results.map(({ name }) => name));
  const all = [...kept.filter(({ name }) => !names.has(name)), ...results].sort(
    (one, other) => WORKLOADS.indexOf(one.name) - WORKLOADS.indexOf(other.name),
  );
  await write("latest.json", `${JSON.stringify({ version: 1, results: all }, null, 2)}\n`);
  await write("latest.md", markdown(all));
  await write("chart.svg", chart(all));
  process.stderr.write(`bench: wrote ${fileURLToPath(FOLDER)}\n`);
}

async function savedResults() {
  try {
    return JSON.parse(await readFile(new URL("latest.json", FOLDER), "utf8")).results;
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

function write(name, text) {
  return writeFile(new URL(name, FOLDER), text);
}
