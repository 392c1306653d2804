// Owns the types that carry a tool's arguments and output from its definition to `tx.step`: the same
// as the embedded engine's, told from the shape of a definition alone. Nothing of it exists at run
// time.

import type { JsonObject, JsonValue } from "@agenttx/model";

/** The part of a tool definition that types need; every ToolDefinition fits. */
export interface ToolLike {
  readonly name: string;
  execute(args: never, context: never): unknown;
}

/** A reference to the output of an earlier step or to a secret, whole or inside a longer text. */
export type Reference = `${string}\${${"steps" | "secrets"}.${string}}${string}`;

/** Arguments as they are sent: a reference may stand for any value, at any depth. */
export type WithReferences<Value> = Value extends string | number | boolean | null | undefined
  ? Value | Reference
  : Value extends readonly (infer Item)[]
    ? readonly WithReferences<Item>[] | Reference
    : Value extends object
      ? { readonly [Key in keyof Value]: WithReferences<Value[Key]> } | Reference
      : JsonValue;

type NameOf<Tools extends readonly ToolLike[]> = Tools[number]["name"];
type Named<Tools extends readonly ToolLike[], Name> = Extract<
  Tools[number],
  { readonly name: Name }
>;

/** True for names that the list of tools knows; a list of plain ToolLike knows none. */
type Knows<Tools extends readonly ToolLike[], Name> =
  string extends NameOf<Tools> ? false : Name extends NameOf<Tools> ? true : false;

/** Names that autocomplete; any other text is accepted too and fails as an unknown tool. */
export type ToolName<Tools extends readonly ToolLike[]> =
  | NameOf<Tools>
  | (string & Record<never, never>);

/** What `tx.step(name, …)` takes. */
export type StepArguments<Tools extends readonly ToolLike[], Name> =
  Knows<Tools, Name> extends true
    ? Named<Tools, Name> extends { execute(args: infer Args, context: never): unknown }
      ? WithReferences<Args>
      : JsonObject
    : JsonObject;

/** What a successful `tx.step(name, …)` answers. */
export type StepOutput<Tools extends readonly ToolLike[], Name> =
  Knows<Tools, Name> extends true
    ? Named<Tools, Name> extends { execute(args: never, context: never): infer Output }
      ? Awaited<Output>
      : JsonValue
    : JsonValue;
