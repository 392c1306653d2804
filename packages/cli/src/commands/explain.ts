// Owns `agenttx explain`: the story of a transaction and the reason of each decision, from the audit
// journal alone (R10, C13).

import type { HistoryEntry } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { explain as explainDecision } from "@agenttx/policy";
import { EXIT } from "../exit-codes.js";
import { API_VERSION, type Output, printable } from "../output.js";
import type { CommandContext } from "../program.js";
import { openSession } from "../session.js";

const VALUE_COLUMNS = 72;

/** NOT_FOUND when the journal has no entry of this transaction. */
export async function explain(context: CommandContext, id: string): Promise<number> {
  const { output, dataDirectory } = context;
  const session = await openSession({ dataDirectory });
  try {
    const entries = await session.engine.history(id);
    if (entries.length === 0) {
      throw new AgentTxError("NOT_FOUND", `The audit journal knows no transaction ${id}.`, {
        details: { transaction: id },
      });
    }
    output.data({ apiVersion: API_VERSION, type: "explain", transaction: id, entries });
    for (const entry of entries) printEntry(output, entry);
    return EXIT.OK;
  } finally {
    await session.close();
  }
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
    default:
      return [`${entry.kind}${entry.note === "" ? "" : `: ${entry.note}`}`];
  }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length <= VALUE_COLUMNS ? text : `${text.slice(0, VALUE_COLUMNS - 3)}...`;
}
