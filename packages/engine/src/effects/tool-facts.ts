// Owns what the plan needs to know of a tool.

import type { UndoFacts } from "@agenttx/ledger";
import type { ToolRegistry } from "./contract.js";

export function factsOf(tools: ToolRegistry, name: string, namespace: string): UndoFacts | null {
  const tool = tools.find(name, namespace);
  if (tool === null) return null;
  return {
    compensate: tool.compensate !== undefined,
    actions: Object.keys(tool.undo ?? {}),
    lookup: tool.lookup !== undefined,
  };
}
