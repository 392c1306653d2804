// Owns `agenttx workflows` and `agenttx replay`: what there is, and how it came to be.

import type { WorkflowView } from "@agenttx/model";
import { EXIT } from "../../exit-codes.js";
import { API_VERSION, type Output, printable } from "../../output.js";
import type { CommandContext } from "../../program.js";
import { tableLines } from "../../table.js";
import { isoTime } from "../list.js";
import type { Retold } from "./calls.js";
import { openRecovery } from "./session.js";

export async function workflows(
  context: CommandContext,
  options: { readonly limit: number },
): Promise<number> {
  const { output } = context;
  const session = await openRecovery(context);
  try {
    const views = await session.recovery.workflows(options.limit);
    output.data(views);
    if (views.length === 0) output.note("no workflows");
    else {
      const columns = [
        { title: "workflow", value: (view: WorkflowView) => view.id },
        { title: "state", value: (view: WorkflowView) => view.state },
        {
          title: "revision",
          align: "right" as const,
          value: (view: WorkflowView) => view.revision,
        },
        { title: "transaction", value: (view: WorkflowView) => view.transaction },
        { title: "status", value: (view: WorkflowView) => view.transactionStatus },
        { title: "open", value: (view: WorkflowView) => view.recovery?.open.length ?? null },
        { title: "since", value: (view: WorkflowView) => isoTime(view.changedAtMs) },
      ];
      for (const line of tableLines(views, columns, output.paint)) output.line(line);
    }
    return EXIT.OK;
  } finally {
    await session.close();
  }
}

/** Exit code 1 when a recorded state is not the one that the recorded decisions lead to. */
export async function replay(context: CommandContext, id: string): Promise<number> {
  const { output } = context;
  const session = await openRecovery(context);
  try {
    const replayed = await session.recovery.retell(id);
    output.data({ apiVersion: API_VERSION, type: "replay", ...replayed });
    printStory(output, replayed);
    return replayed.consistent ? EXIT.OK : EXIT.FAILED;
  } finally {
    await session.close();
  }
}

function printStory(output: Output, replayed: Retold): void {
  for (const { atMs, event, actor, state, why } of replayed.events) {
    const by = actor === "" ? "" : ` (${printable(actor)})`;
    output.line(`${output.paint("dim", isoTime(atMs))}  ${event}${by}: ${state}`);
    if (why !== "") output.line(`                      ${output.paint("dim", printable(why))}`);
  }
  output.line();
  output.line("facts that stand:");
  for (const { revision, step, tool, effectId } of replayed.facts) {
    const state = effectId === null ? "" : `  ${replayed.effects[effectId] ?? ""}`;
    output.line(`  revision ${revision}, step ${step}  ${printable(tool)}${state}`);
  }
  output.line(replayed.consistent ? "replayed: consistent" : "replayed: NOT consistent");
}
