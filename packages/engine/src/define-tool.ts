// Owns the check of one tool definition (E1): a class is declared, and its parts fit together.
import { AgentTxError, limits, type ToolDefinition } from "@agenttx/model";
import type { ToolShape } from "./tool-types.js";

const CLASSES: readonly unknown[] = ["read-only", "reversible", "irreversible"];

/**
 * Returns the definition, checked and with its types inferred: arguments from the schema, output
 * from `execute`. Throws TOOL_INVALID when it declares no effect class, or its parts contradict
 * each other.
 */
export function defineTool<const Name extends string, Args, Output>(
  definition: ToolDefinition<Name, Args, Output>,
): ToolDefinition<Name, Args, Output> {
  checkTool(definition as unknown as ToolShape);
  return definition;
}

/** Throws TOOL_INVALID with the reason; the registry calls it again for tools made without us. */
export function checkTool(tool: ToolShape): void {
  const name: unknown = tool.name;
  const nameBytes = typeof name === "string" ? Buffer.byteLength(name) : 0;
  if (nameBytes < 1 || nameBytes > limits.TOOL_NAME_BYTES_MAX) {
    refuse("", `a tool name has 1..${limits.TOOL_NAME_BYTES_MAX} bytes`);
  }
  // Names stand in lists, logs and terminals.
  if (/\p{C}/u.test(tool.name)) {
    refuse("", "a tool name has no control or invisible characters");
  }
  if (typeof tool.effect !== "function" && !CLASSES.includes(tool.effect)) {
    refuse(tool.name, "it must declare its effect: read-only, reversible or irreversible");
  }
  if (typeof tool.execute !== "function") refuse(tool.name, "it has no execute function");
  if (typeof tool.schema?.["~standard"]?.validate !== "function") {
    refuse(tool.name, "its schema is no Standard Schema");
  }
  checkScope(tool);
  checkNumbers(tool);
}

function checkScope(tool: ToolShape): void {
  const scope: unknown = tool.scope ?? "external";
  if (scope !== "store" && scope !== "external") {
    refuse(tool.name, 'its scope must be "store" or "external"');
  }
  if (scope === "store") {
    if (tool.effect === "irreversible") refuse(tool.name, "what only writes state is reversible");
    if (tool.compensate !== undefined || tool.undo !== undefined) {
      refuse(tool.name, "a store-scoped tool is undone by the journal: it has no compensation");
    }
    return;
  }
  const undoes = tool.compensate !== undefined || tool.undo !== undefined;
  if (tool.effect === "reversible" && !undoes) {
    refuse(tool.name, "a reversible external tool must have compensate or undo actions");
  }
  if (typeof tool.irreversible === "object") {
    const { pivot, forwardRecovery } = tool.irreversible;
    if (pivot !== true || typeof forwardRecovery !== "string" || forwardRecovery === "") {
      refuse(tool.name, "a pivot must name its forward recovery procedure");
    }
  }
}

function checkNumbers(tool: ToolShape): void {
  for (const field of ["deadlineMs", "undoWithinMs"] as const) {
    const value = tool[field];
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      refuse(tool.name, `${field} must be a positive number of milliseconds`);
    }
  }
  const { retry } = tool;
  if (retry !== undefined && !(Number.isInteger(retry) && retry >= 0 && retry <= 10)) {
    refuse(tool.name, "retry must be a whole number from 0 to 10");
  }
}

function refuse(name: string, why: string): never {
  const which = name === "" ? "A tool was not registered" : `Tool "${name}" was not registered`;
  throw new AgentTxError("TOOL_INVALID", `${which}: ${why}.`, { details: { tool: name } });
}
