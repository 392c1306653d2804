// Owns `agenttx list`.

import { EXIT } from "../exit-codes.js";
import { type ListedTransaction, openOperator } from "../operator.js";
import type { CommandContext } from "../program.js";
import { tableLines } from "../table.js";

/** Newest last, as ids sort; an empty store gives an empty list. */
export async function list(
  context: CommandContext,
  options: { readonly limit: number },
): Promise<number> {
  const { output } = context;
  const operator = await openOperator(context);
  try {
    const views = await operator.list(options.limit);
    output.data(views);
    if (views.length === 0) output.note("no transactions");
    else {
      const columns = [
        { title: "id", value: (view: ListedTransaction) => view.id },
        { title: "status", value: (view: ListedTransaction) => view.status },
        { title: "steps", align: "right" as const, value: stepsOf },
        { title: "agent", value: (view: ListedTransaction) => view.agentId },
        { title: "updated", value: (view: ListedTransaction) => isoTime(view.updatedAtMs) },
      ];
      for (const line of tableLines(views, columns, output.paint)) output.line(line);
    }
    return EXIT.OK;
  } finally {
    await operator.close();
  }
}

function stepsOf(view: ListedTransaction): number {
  return view.nextStep > 0 ? view.nextStep - 1 : view.stepsCommitted;
}

/** `2026-11-30T21:05:07Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
