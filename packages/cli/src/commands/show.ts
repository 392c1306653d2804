// Owns `agenttx show`.

import type { TransactionView } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { openOperator } from "../operator.js";
import { API_VERSION, printable } from "../output.js";
import type { CommandContext } from "../program.js";
import { pairLines } from "../table.js";
import { isoTime } from "./list.js";

/** NOT_FOUND for an id that was never there or whose record has expired. */
export async function show(context: CommandContext, id: string): Promise<number> {
  const { output } = context;
  const operator = await openOperator(context);
  try {
    const view = await operator.get(id);
    output.data({ apiVersion: API_VERSION, type: "transaction", ...view });
    for (const line of pairLines(pairsOf(view), output.paint)) output.line(line);
    for (const constraint of view.constraints) output.line(`learnt  ${printable(constraint.text)}`);
    for (const { step, tool, rawContext } of view.context) {
      output.line(`step ${String(step).padStart(3)}  ${printable(`${tool}  ${rawContext}`)}`);
    }
    return EXIT.OK;
  } finally {
    await operator.close();
  }
}

function pairsOf(view: TransactionView): (readonly [string, string | number | null])[] {
  return [
    ["id", view.id],
    ["status", view.status],
    ["agent", view.agentId],
    ["next step", view.nextStep === 0 ? null : view.nextStep],
    ["steps committed", view.stepsCommitted],
    ["global resets", view.globalResets],
    ["unresolved", view.unresolvedEffects.join(", ")],
    ["reason", view.abortReason],
    ["began", isoTime(view.beganAtMs)],
    ["updated", isoTime(view.updatedAtMs)],
    ...Object.entries(view.metadata).map(([name, value]) => [`metadata ${name}`, value] as const),
  ];
}
