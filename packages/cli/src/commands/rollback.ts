// Owns `agenttx rollback` and `agenttx abort`: take back a part of a transaction, or all of it.

import type { RollbackOutcome } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { openOperator } from "../operator.js";
import { API_VERSION, printable } from "../output.js";
import type { CommandContext } from "../program.js";

interface UndoOptions {
  readonly tools: readonly string[];
  readonly filesRoot?: string;
}

/** Rewinds to before a step; the transaction stays open. Exit code 6 when an undo is missing. */
export function rollback(
  context: CommandContext,
  id: string,
  options: UndoOptions & { readonly toStep: number },
): Promise<number> {
  return undo(context, options, id, (operator) => operator.rollback(id, options.toStep));
}

/** Ends it. Exit code 6 when something could not be undone. */
export function abort(
  context: CommandContext,
  id: string,
  options: UndoOptions & { readonly reason: string },
): Promise<number> {
  return undo(context, options, id, (operator) => operator.abort(id, options.reason));
}

async function undo(
  context: CommandContext,
  { tools, filesRoot }: UndoOptions,
  id: string,
  run: (operator: Awaited<ReturnType<typeof openOperator>>) => Promise<RollbackOutcome>,
): Promise<number> {
  const { output } = context;
  const operator = await openOperator({
    ...context,
    tools,
    ...(filesRoot === undefined ? {} : { filesRoot }),
  });
  try {
    const outcome = await run(operator);
    output.data({ apiVersion: API_VERSION, type: "rollback", id, ...outcome });
    const { status, compensationsRun, nextStep } = outcome;
    const then = nextStep === 0 ? "" : `, next is step ${nextStep}`;
    output.line(`${id}  ${status}  ${compensationsRun} undone${then}`);
    for (const { step, tool, message } of outcome.compensationErrors) {
      output.note(`step ${step}, ${tool}: ${printable(message)}`);
    }
    for (const effect of outcome.unresolvedEffects) output.note(`unresolved: ${effect}`);
    return outcome.rolledBack ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    await operator.close();
  }
}
