// Owns the types that carry a tool's arguments and output from its definition to `tx.step`.
import type {
  ArgumentSchema,
  JsonObject,
  JsonValue,
  ToolContext,
  ToolDefinition,
} from "@agenttx/model";

/** Any tool definition, whatever its arguments and output: what `createEngine` accepts. */
export type ToolShape = Omit<
  ToolDefinition<string, never, unknown>,
  "schema" | "execute" | "compensate" | "lookup" | "verify"
> & {
  readonly schema: ArgumentSchema<unknown, unknown>;
  execute(args: never, context: ToolContext): unknown;
  compensate?(call: { readonly args: never; readonly output: never }, context: never): unknown;
  lookup?(call: never, context: never): unknown;
  verify?(call: { readonly args: never; readonly output: never }, context: never): unknown;
};

/** A reference to the output of an earlier step or to a secret, whole or inside a longer text. */
export type Reference = `${string}\${${"steps" | "secrets"}.${string}}${string}`;

/** Arguments as they are sent: a reference may stand for any value, at any depth. */
export type WithReferences<Value> = Value extends string
  ? Value | Reference
  : Value extends number | boolean | null | undefined
    ? Value | Reference
    : Value extends readonly (infer Item)[]
      ? readonly WithReferences<Item>[] | Reference
      : Value extends object
        ? { readonly [Key in keyof Value]: WithReferences<Value[Key]> } | Reference
        : JsonValue;

type NameOf<Tools extends readonly ToolShape[]> = Tools[number]["name"];

type ToolNamed<Tools extends readonly ToolShape[], Name> = Extract<
  Tools[number],
  { readonly name: Name }
>;

/** Names that autocomplete; any other text is accepted too and fails as an unknown tool. */
export type ToolName<Tools extends readonly ToolShape[]> =
  | NameOf<Tools>
  | (string & Record<never, never>);

/** What `tx.step(name, …)` takes: the tool's arguments, or any object for a name not known here. */
export type StepArguments<Tools extends readonly ToolShape[], Name> =
  string extends NameOf<Tools>
    ? JsonObject
    : Name extends NameOf<Tools>
      ? ToolNamed<Tools, Name> extends { execute(args: infer Args, context: ToolContext): unknown }
        ? WithReferences<Args>
        : JsonObject
      : JsonObject;

/** What a successful `tx.step(name, …)` answers: the tool's output, or any JSON. */
export type StepOutput<Tools extends readonly ToolShape[], Name> =
  string extends NameOf<Tools>
    ? JsonValue
    : Name extends NameOf<Tools>
      ? ToolNamed<Tools, Name> extends { execute(args: never, context: ToolContext): infer Output }
        ? Awaited<Output>
        : JsonValue
      : JsonValue;
