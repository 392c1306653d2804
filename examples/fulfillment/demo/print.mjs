// How the demo looks: at most 100 columns, readable without colour and in a log.
import { formatMs } from "agenttx";
import { paint, symbols } from "./agenttx.mjs";

const VALUE_COLUMNS = 62;

export function heading(text) {
  console.log(`\n${paint("bold", text)}`);
}

export function say(text, strength = "normal") {
  console.log(`  ${strength === "strong" ? paint("yellow", `${symbols.warning} ${text}`) : text}`);
}

/** One sentence about how an act ended. */
export function explainAct(result) {
  const undone = result.compensationsRun;
  const rewinds = result.rollbacks.length;
  const parts = [
    `${result.stepsCommitted} steps`,
    `${rewinds} ${rewinds === 1 ? "rewind" : "rewinds"}`,
    `${undone} ${undone === 1 ? "effect" : "effects"} taken back`,
  ];
  say(`${result.status} in ${formatMs(result.durationMs)}: ${parts.join(", ")}.`);
}

export function printChecks(rows) {
  const holder = Math.max(...rows.map((row) => row.holder.length));
  const what = Math.max(...rows.map((row) => row.what.length));
  const title = `    ${"who".padEnd(holder)}  ${"what".padEnd(what)}  found, and compared with what it must be`;
  console.log(paint("dim", title));
  for (const row of rows) {
    const sign = row.ok ? paint("green", symbols.success) : paint("red", symbols.failure);
    const head = `  ${sign} ${row.holder.padEnd(holder)}  ${row.what.padEnd(what)}  `;
    const [first, ...rest] = wrap(String(row.found), VALUE_COLUMNS);
    console.log(head + first);
    for (const line of rest) console.log(" ".repeat(holder + what + 8) + line);
    if (!row.ok) console.log(`${" ".repeat(holder + 6)}expected: ${row.expected}`);
  }
}

export function printFigures(results) {
  const steps = results.flatMap((result) => result.steps.filter((one) => one.status === "SUCCESS"));
  const rollbacks = results.flatMap((result) => result.rollbacks);
  const recovery = results.map((result) => result.recovery).find((one) => one !== null);
  for (const [tool, times] of groupByTool(steps)) {
    figure(`step ${tool}`, `${formatMs(median(times))} median of ${times.length}`);
  }
  figure("rewind, effects included", rollbacks.map((one) => formatMs(one.latencyMs)).join(", "));
  figure("effects taken back", results.map((one) => one.compensationsRun).join(" and "));
  if (recovery) {
    const count = recovery.compensationsRun;
    figure("recovery after kill -9", `${formatMs(recovery.durationMs)}, ${count} effects undone`);
  }
  figure("whole run", results.map((one) => formatMs(one.durationMs)).join(" and "));
}

function figure(name, value) {
  console.log(`  ${paint("dim", name.padEnd(28))}${value}`);
}

function groupByTool(steps) {
  const groups = new Map();
  for (const { tool, durationMs } of steps) {
    groups.set(tool, [...(groups.get(tool) ?? []), durationMs]);
  }
  return groups;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function wrap(text, columns) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] === "" ? word : `${lines[last]} ${word}`;
    if (longer.length <= columns) lines[last] = longer;
    else lines.push(word);
  }
  return lines;
}
