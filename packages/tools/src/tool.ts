// Owns how the tools of this package are declared: types inferred, nothing added.

import type { JsonValue, ToolDefinition } from "@agenttx/model";

/** The definition as given, with its name, arguments and output inferred. */
export function tool<const Name extends string, Args, Output extends JsonValue>(
  definition: ToolDefinition<Name, Args, Output>,
): ToolDefinition<Name, Args, Output> {
  return definition;
}
