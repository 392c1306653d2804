// Owns the words in which a decision is told to people (R10). Made from the reason alone.
import type { DependencyPathEdge, RollbackDecision } from "@agenttx/model";

/**
 * The decision in a few lines: what, why, the way to the root, the price, what was refused.
 * Keys and paths come from outside: anything but plain ASCII in them is escaped.
 */
export function explain(decision: RollbackDecision): string[] {
  const { reason } = decision;
  const lines = [`${headline(decision)} (rule ${reason.rule})`];
  lines.push(`failure ${reason.failureNumber} of this step in this epoch`);
  lines.push(causeLine(decision));
  const first = reason.path.at(0);
  if (first !== undefined) {
    lines.push(`path: ${place(first.to, first.inputPath)}${reason.path.map(hop).join("")}`);
  }
  const price = `replays ${counted(decision.replayCost, "step")}`;
  lines.push(
    `${price}; ${figure(reason.budgetLeft)} of ${figure(reason.budget)} left in the epoch`,
  );
  for (const candidate of reason.considered) {
    if (candidate.refused === null) continue;
    const target = candidate.target === 0 ? "" : ` to step ${candidate.target}`;
    lines.push(`not ${candidate.strategy}${target}: ${candidate.refused}`);
  }
  return lines;
}

function headline(decision: RollbackDecision): string {
  switch (decision.strategy) {
    case "DEPENDENCY_JUMP":
      return `DEPENDENCY_JUMP: rewind to before step ${decision.rollbackToStep}, its root cause`;
    case "LOCAL_BACKTRACK":
      return `LOCAL_BACKTRACK: rewind to before step ${decision.rollbackToStep}`;
    case "GLOBAL_RESET":
      return "GLOBAL_RESET: back to the initial state, clear the context, begin again at step 1";
    case "ABORT":
      return "ABORT: the transaction ends and nothing of it stays";
  }
}

function causeLine({ reason }: RollbackDecision): string {
  if (reason.key === null) return "the hint names no key";
  const key = printable(reason.key);
  if (reason.producer === null) return `key ${key}: no earlier step produced it`;
  return `key ${key}: produced by step ${reason.producer}`;
}

function hop(edge: DependencyPathEdge): string {
  const how = edge.explicit ? "reference" : "equal value";
  return ` <- ${place(edge.from, edge.outputPath)} [${how}]`;
}

function place(step: number, path: string): string {
  return path === "" ? `step ${step}` : `step ${step} ${printable(path)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Budgets may be fractions: two digits are enough for people. */
function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function printable(text: string): string {
  if (/^[\w.[\]/-]{1,128}$/.test(text)) return text;
  const ascii = JSON.stringify(text.slice(0, 128));
  return ascii.replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
