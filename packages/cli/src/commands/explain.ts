// Owns `agenttx explain`: the story of a transaction, or of a workflow revision by revision, and the
// reason of each decision, from the audit journal alone (R10, C13).

import type { HistoryEntry } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { explain as explainDecision } from "@agenttx/policy";
import { EXIT } from "../exit-codes.js";
import { type Operator, openOperator } from "../operator.js";
import { API_VERSION, type Output, printable } from "../output.js";
import type { CommandContext } from "../program.js";

const VALUE_COLUMNS = 72;

/** NOT_FOUND when the journal has no entry of this transaction or workflow. */
export async function explain(context: CommandContext, id: string): Promise<number> {
  const { output } = context;
  const operator = await openOperator(context);
  try {
    const entries = await operator.history(id);
    if (entries === null) return await explainWorkflow(output, operator, id);
    output.data({ apiVersion: API_VERSION, type: "explain", transaction: id, entries });
    for (const entry of entries) printEntry(output, entry);
    return EXIT.OK;
  } finally {
    await operator.close();
  }
}

async function explainWorkflow(output: Output, operator: Operator, id: string): Promise<number> {
  const revisions = await operator.story(id);
  if (revisions === null) {
    throw new AgentTxError(
      "NOT_FOUND",
      `The audit journal knows no transaction or workflow ${id}.`,
      {
        details: { id },
      },
    );
  }
  output.data({ apiVersion: API_VERSION, type: "explain-workflow", workflow: id, revisions });
  for (const { revision, transaction, base, history } of revisions) {
    const from = base === null ? "" : `, from revision ${base.revision}, step ${base.step}`;
    output.line(output.paint("bold", `revision ${revision}${from}  ${transaction}`));
    for (const entry of history) printEntry(output, entry);
  }
  return EXIT.OK;
}

/** The first line names the step and what happened; the others explain it. */
function printEntry(output: Output, entry: HistoryEntry): void {
  const [first = "", ...rest] = linesOf(entry);
  const step = entry.step > 0 ? `step ${String(entry.step).padStart(3)}` : "        ";
  const undone = entry.kind === "step" && entry.undoneBy !== null;
  const mark = undone ? output.paint("dim", "  (undone later)") : "";
  output.line(`${output.paint("dim", step)}  ${printable(first)}${mark}`);
  for (const line of rest) output.line(`            ${output.paint("dim", printable(line))}`);
}

function linesOf(entry: HistoryEntry): string[] {
  switch (entry.kind) {
    case "step":
      return [`${entry.tool} ${short(entry.arguments)}`, `answered ${short(entry.output)}`];
    case "failed":
      return [
        `${entry.tool ?? ""} failed${entry.reported ? ", reported later" : ""}`,
        entry.hint.text,
      ];
    case "decision":
      return explainDecision(entry.decision);
    case "rewound":
      return [`rewound to before step ${Math.max(entry.toStep, 1)} (${entry.why})`];
    case "effect": {
      const by = entry.actor === null ? "" : `, says ${entry.actor}`;
      const why = entry.why === null ? "" : ` (${entry.why})`;
      return [`effect of ${entry.tool}: ${entry.state}${by}${why}`];
    }
    case "workflow": {
      const why = entry.note === "" ? [] : [entry.note];
      return [`workflow ${entry.event}: ${entry.state}, says ${entry.actor}`, ...why];
    }
    default:
      return [`${entry.kind}${entry.note === "" ? "" : `: ${entry.note}`}`];
  }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length <= VALUE_COLUMNS ? text : `${text.slice(0, VALUE_COLUMNS - 3)}...`;
}
