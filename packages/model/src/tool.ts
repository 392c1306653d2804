// Owns what a tool is (rules E1-E1c). Ports are structural: a tool package needs only this file.

import type { EffectClass } from "./effect.js";
import type { JsonObject, JsonValue } from "./json.js";

/** Standard Schema v1, the part that is used: any zod, valibot or arktype schema fits. */
export interface ArgumentSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** State of the running transaction as a tool sees it: own writes first, then committed (S5). */
export interface ToolState {
  /** `validate`: the read must still be true at commit (S8). */
  get(key: string | Uint8Array, options?: { validate?: boolean }): Promise<Uint8Array | null>;
  put(key: string | Uint8Array, value: Uint8Array): void;
  delete(key: string | Uint8Array): void;
  /**
   * In byte order. An answer may be shorter than its limit when it has 16 MiB: go on after its last
   * key until one is empty.
   */
  scan(range: StateRange): Promise<readonly StateEntry[]>;
}

/** Half-open: `start` included, `end` excluded. `prefix` excludes both. */
export interface StateRange {
  readonly prefix?: string | Uint8Array;
  readonly start?: string | Uint8Array;
  readonly end?: string | Uint8Array;
  readonly reverse?: boolean;
  /** At most this many entries; default 1,000. */
  readonly limit?: number;
}

export interface StateEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** What a tool is given beside its arguments (E1b). */
export interface ToolContext {
  readonly transaction: string;
  /** Tenant of the transaction; "" without tenants. */
  readonly namespace: string;
  readonly step: number;
  /** Grows with every execution in this transaction; never reset (E6). */
  readonly attempt: number;
  /** The same for every retry within one attempt group (E3); hand it to the other side. */
  readonly idempotencyKey: string;
  /** Aborts at the deadline, or when the attempt is fenced. */
  readonly signal: AbortSignal;
  readonly state: ToolState;
  /** Durable before it resolves (E4). `action` is a name declared in the tool's `undo`. */
  registerUndo(action: string, args: JsonValue): Promise<void>;
}

/** What compensation, lookup and verify are given. */
export interface UndoContext {
  readonly transaction: string;
  /** Tenant of the transaction; "" without tenants. */
  readonly namespace: string;
  readonly step: number;
  readonly effectId: string;
  /** Key of the effect being undone. */
  readonly idempotencyKey: string;
  /** Key of this undo: the same for each of its retries. */
  readonly undoKey: string;
  readonly signal: AbortSignal;
}

/** `undone`: it is gone now. `dirty`: someone else changed it since; not touched (E9). */
export type UndoResult =
  | { readonly status: "undone" }
  | { readonly status: "already-undone" }
  | { readonly status: "dirty"; readonly expected: string; readonly found: string };

/** Answer of an adapter's lookup (E5). `final`: the key can no longer land later. */
export type LookupResult<Output = JsonValue> =
  | { readonly status: "landed"; readonly output?: Output }
  | { readonly status: "absent"; readonly final: boolean }
  | { readonly status: "unknown" };

export interface ToolDefinition<
  Name extends string = string,
  Args = JsonObject,
  Output = JsonValue,
> {
  readonly name: Name;
  readonly description?: string;
  /** Stored with each undo, so that a later deploy knows what it undoes. Default "1". */
  readonly version?: string;
  readonly schema: ArgumentSchema<unknown, Args>;
  /** Declared, or a pure function of the arguments. Registration without it is refused. */
  readonly effect: EffectClass | ((args: Args) => EffectClass);
  /** `store`: all it does goes to the transaction's state (E1a). Default `external`. */
  readonly scope?: "store" | "external";
  execute(args: Args, context: ToolContext): Promise<Output> | Output;
  /** Undoes one call. Must tolerate "never happened" and "already undone". */
  compensate?(
    call: { readonly args: Args; readonly output: Output | null },
    context: UndoContext,
  ): Promise<UndoResult | void> | UndoResult | void;
  /** Undo actions that `registerUndo` may name. */
  readonly undo?: Readonly<
    Record<
      string,
      (args: JsonValue, context: UndoContext) => Promise<UndoResult | void> | UndoResult | void
    >
  >;
  lookup?(
    call: { readonly args: Args; readonly idempotencyKey: string },
    context: UndoContext,
  ): Promise<LookupResult<Output>> | LookupResult<Output>;
  /** After a compensation: is it really gone? False keeps it unresolved. */
  verify?(
    call: { readonly args: Args; readonly output: Output | null },
    context: UndoContext,
  ): Promise<boolean> | boolean;
  /** Sends a staged irreversible effect after commit, at least once, with the idempotency key. */
  readonly irreversible?: "staged" | { readonly pivot: true; readonly forwardRecovery: string };
  /** Milliseconds; a call past it is indeterminate when it has effects (E5). Default 30,000. */
  readonly deadlineMs?: number;
  /** Milliseconds after which the effect can no longer be undone. */
  readonly undoWithinMs?: number;
  /** Extra tries in place for retryable hints: default 2 for read-only, 0 otherwise (E1c). */
  readonly retry?: number;
  readonly compensation?: "auto" | "ask";
  /** Who agreed the compensation rules; shown to people. */
  readonly owner?: string;
  /** Argument paths whose values never reach a record in clear. */
  readonly secrets?: readonly string[];
}

/** Throw it from a tool to say: certainly nothing happened (E2). */
export class DefiniteFailure extends Error {
  override readonly name = "DefiniteFailure";
  readonly definite = true;
}
