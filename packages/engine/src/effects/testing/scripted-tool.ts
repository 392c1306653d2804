// Owns tools that do what a test says, and the outside world that they change.

import type { JsonValue, ToolDefinition } from "@agenttx/model";
import type { AnyTool, ToolRegistry } from "../contract.js";

type Definition = Partial<ToolDefinition<string, JsonValue, JsonValue>>;

const ANY_ARGUMENTS = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) => ({ value: value as JsonValue }),
  },
} as const;

/** A reversible tool that returns its arguments, changed as given. */
export function scriptedTool(name: string, definition: Definition = {}): AnyTool {
  const tool: ToolDefinition<string, JsonValue, JsonValue> = {
    name,
    schema: ANY_ARGUMENTS,
    effect: "reversible",
    execute: (args) => args,
    ...definition,
  };
  // Like the registry of the engine: argument types are forgotten.
  return tool as unknown as AnyTool;
}

export function registryOf(...tools: readonly AnyTool[]): ToolRegistry {
  return { find: (name) => tools.find((tool) => tool.name === name) ?? null };
}

/** A service outside: what is done under which key, and every call in order. */
export class Outside {
  readonly calls: string[] = [];
  readonly #standing = new Set<string>();
  readonly #undoKeys = new Set<string>();
  /** Undos that changed something, by key of the effect. */
  readonly undone: string[] = [];

  do(key: string): void {
    this.calls.push(`do ${key}`);
    this.#standing.add(key);
  }

  /** Idempotent by undo key, tolerant of what never happened. */
  undo(key: string, undoKey: string): void {
    this.calls.push(`undo ${key}`);
    if (this.#undoKeys.has(undoKey) || !this.#standing.delete(key)) return;
    this.#undoKeys.add(undoKey);
    this.undone.push(key);
  }

  stands(key: string): boolean {
    return this.#standing.has(key);
  }

  get standing(): string[] {
    return [...this.#standing].sort();
  }
}

/** A promise that never settles: a call without an answer. */
export function noAnswer<Value>(): Promise<Value> {
  return new Promise(() => undefined);
}
