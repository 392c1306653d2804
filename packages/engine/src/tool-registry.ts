// Owns the tools of one engine, by name.
import { AgentTxError } from "@agenttx/model";
import { checkTool } from "./define-tool.js";
import type { AnyTool, ToolRegistry } from "./effects/contract.js";
import type { ToolShape } from "./tool-types.js";

/**
 * Throws TOOL_INVALID for an unusable definition and for a name given twice. `resolve` makes the
 * tool of a name that is not among them, or answers null.
 */
export function createToolRegistry(
  tools: readonly ToolShape[],
  resolve: (name: string, namespace: string) => ToolShape | null = () => null,
): ToolRegistry {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    checkTool(tool);
    if (byName.has(tool.name)) {
      throw new AgentTxError("TOOL_INVALID", `Two tools are named "${tool.name}".`, {
        details: { tool: tool.name },
      });
    }
    // The registry forgets argument types on purpose: the schema checks them at run time.
    byName.set(tool.name, tool as unknown as AnyTool);
  }
  return {
    find: (name, namespace) =>
      byName.get(name) ?? (resolve(name, namespace) as unknown as AnyTool | null),
  };
}
