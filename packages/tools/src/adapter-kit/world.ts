// Owns what the suite needs beside the tool: the other side, as a test sees it.

import type { ArgumentSchema, JsonValue, ToolContext, UndoContext } from "@agenttx/model";

/** The tool under test; any definition fits. */
export interface AdapterTool {
  readonly name: string;
  readonly version?: string;
  readonly effect: unknown;
  readonly schema: ArgumentSchema<unknown, unknown>;
  execute(args: never, context: ToolContext): unknown;
  compensate?(
    call: { readonly args: never; readonly output: never },
    context: UndoContext,
  ): unknown;
  readonly undo?: Readonly<Record<string, (args: JsonValue, context: UndoContext) => unknown>>;
  lookup?(
    call: { readonly args: never; readonly idempotencyKey: string },
    context: UndoContext,
  ): unknown;
  verify?(call: { readonly args: never; readonly output: never }, context: UndoContext): unknown;
}

/** A call that the other side holds. */
export interface HeldCall {
  /** Resolves when the held call has arrived there. */
  readonly arrived: Promise<void>;
  release(): Promise<void> | void;
}

/** One test: things of its own that nobody else uses. */
export interface AdapterCase {
  /** Arguments of a call that works, as an agent would send them. */
  readonly args: JsonValue;
  /** Arguments of a second call that works after it, on the same thing if it can be. */
  readonly nextArgs: JsonValue;
  /** Everything a call may change, as comparable data: equal means nothing is left of it. */
  snapshot(): Promise<unknown> | unknown;
  /** Somebody else changes what the call has changed. */
  change(): Promise<void> | void;
  /** Somebody else changes it and puts it back. Omit when nobody could tell. */
  changeAndChangeBack?(): Promise<void> | void;
  /**
   * Holds the next call: `before` it takes effect, or `after` that, before it is answered. Omit
   * what the other side cannot be made to do.
   */
  hold?(when: "before" | "after"): Promise<HeldCall | null> | HeldCall | null;
  end?(): Promise<void> | void;
}

export interface AdapterWorld {
  /** A fresh case; cases must not touch each other. */
  begin(): Promise<AdapterCase> | AdapterCase;
}
