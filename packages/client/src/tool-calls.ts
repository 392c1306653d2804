// Owns the calling of a tool that lives in this process: arguments through its schema, errors as the
// text that the server cleans.

import type { JsonValue, ToolDefinition } from "@agenttx/model";

/** Any tool definition, whatever its arguments and output. */
export type LocalTool = Omit<
  ToolDefinition<string, never, unknown>,
  "schema" | "execute" | "compensate" | "lookup" | "verify"
> & {
  readonly schema: ToolDefinition["schema"];
  execute(args: never, context: never): unknown;
  compensate?(call: { readonly args: never; readonly output: never }, context: never): unknown;
  lookup?(call: never, context: never): unknown;
  verify?(call: { readonly args: never; readonly output: never }, context: never): unknown;
};

/** The arguments that the schema makes; throws the issues as an error when it refuses them. */
export async function readArguments(tool: LocalTool, args: JsonValue): Promise<never> {
  const result = await tool.schema["~standard"].validate(args);
  // What the schema made is what the tool takes; LocalTool has forgotten its type.
  if (result.issues === undefined) return result.value as never;
  throw new RefusedArguments(
    result.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((part) => (typeof part === "object" ? String(part.key) : String(part))),
    })),
  );
}

/** Nothing was run: the arguments do not fit the tool. */
export class RefusedArguments extends Error {
  readonly definite = true;
  readonly issues: readonly { readonly message: string; readonly path: readonly string[] }[];

  constructor(issues: RefusedArguments["issues"]) {
    super("The arguments do not fit the tool.");
    this.issues = issues;
  }
}

/** Fields that tell what is wrong; nothing else of an error object leaves the process. */
const TELLING = [
  "code",
  "column",
  "constraint",
  "errors",
  "field",
  "issues",
  "param",
  "path",
  "retryAfter",
  "status",
  "statusCode",
  "table",
];
const TEXT_CHARS_MAX = 64 * 1024;

/** The error as text, structured when it carries structure. Stacks and causes stay here. */
export function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error).slice(0, TEXT_CHARS_MAX);
  const { name = "Error", message = "" } = error as { name?: string; message?: string };
  const fields = Object.entries(error).filter(
    ([field, value]) => TELLING.includes(field) && value !== undefined && value !== null,
  );
  if (fields.length === 0) return `${name}: ${message}`.slice(0, TEXT_CHARS_MAX);
  return JSON.stringify({ name, message, ...Object.fromEntries(fields) }).slice(0, TEXT_CHARS_MAX);
}

/** True when the tool says that certainly nothing happened (E2). */
export function isDefinite(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "definite" in error && error.definite === true
  );
}

/** JSON of an output; undefined is null. Throws TypeError for what JSON cannot say. */
export function outputText(output: unknown): string {
  const text = JSON.stringify(output ?? null);
  if (text === undefined) throw new TypeError("The tool's output is nothing that JSON can say.");
  return text;
}
