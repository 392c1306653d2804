// Owns `agenttx list`.

import type { TransactionView } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import type { CommandContext } from "../program.js";
import { openSession } from "../session.js";
import { tableLines } from "../table.js";

/** Newest last, as ids sort; an empty store gives an empty list. */
export async function list(
  context: CommandContext,
  options: { readonly limit: number },
): Promise<number> {
  const { output, dataDirectory } = context;
  const session = await openSession({ dataDirectory });
  try {
    const views = await session.engine.list({ limit: options.limit });
    output.data(views);
    if (views.length === 0) output.note("no transactions");
    else {
      const columns = [
        { title: "id", value: (view: TransactionView) => view.id },
        { title: "status", value: (view: TransactionView) => view.status },
        { title: "steps", align: "right" as const, value: stepsOf },
        { title: "agent", value: (view: TransactionView) => view.agentId },
        { title: "updated", value: (view: TransactionView) => isoTime(view.updatedAtMs) },
      ];
      for (const line of tableLines(views, columns, output.paint)) output.line(line);
    }
    return EXIT.OK;
  } finally {
    await session.close();
  }
}

function stepsOf(view: TransactionView): number {
  return view.nextStep > 0 ? view.nextStep - 1 : view.stepsCommitted;
}

/** `2026-11-30T21:05:07Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
