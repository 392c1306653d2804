// Owns tools that run on the caller's side. Their name in the records is `remote:<class>:<name>`, so
// that a server that knows nothing else can undo them after any restart: nothing is registered.
//
//   M1 A step: PrepareStep starts it, the engine makes the intent durable and calls `execute`, which
//      hands arguments and key to the waiting caller; CompleteStep ends `execute`. Everything else
//      (deadline, indeterminate, lookup, compensation) is the engine's, through the work queue.
//   M2 A tool exists while a step of it runs or a worker serves it. Otherwise the engine parks what
//      it must do with it: visible, and taken up again when a worker connects.

import type { ToolShape } from "@agenttx/engine";
import {
  AgentTxError,
  DefiniteFailure,
  type EffectClass,
  type JsonObject,
  type JsonValue,
  type ToolContext,
  type UndoContext,
} from "@agenttx/model";
import { remoteError } from "./remote-error.js";
import { deliverResult, lookupResult, undoResult, verifyResult } from "./work-answers.js";
import type { WorkAnswer, WorkItem, WorkKind, WorkQueue } from "./work-queue.js";

const CLASSES: readonly EffectClass[] = ["read-only", "reversible", "irreversible"];
const NAME = /^remote:(read-only|reversible|irreversible):(.+)$/;
/** The one undo action of every remote tool: its arguments say which action of the worker's. */
const UNDO_ACTION = "remote";

export interface PreparedCall {
  readonly argumentsJson: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export type RemoteResult =
  | { readonly ok: true; readonly output: JsonValue; readonly writes: readonly RemoteWrite[] }
  | { readonly ok: false; readonly text: string; readonly definite: boolean };

export interface RemoteWrite {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

interface Expected {
  readonly name: string;
  readonly prepared: (call: PreparedCall) => void;
}

/** Calls past their deadline whose result is still awaited, as evidence; the oldest are let go. */
const OVERDUE_MAX = 1_000;

interface Running {
  readonly attempt: number;
  readonly context: ToolContext;
  readonly finish: (result: RemoteResult) => void;
}

export function remoteToolName(effectClass: string, name: string): string {
  if (!CLASSES.some((known) => known === effectClass)) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "`effect_class` is read-only, reversible or irreversible; nothing was started.",
      { details: { field: "effect_class" } },
    );
  }
  return `remote:${effectClass}:${name}`;
}

/** The worker's name of a recorded tool; other names as they are. */
export function plainToolName(name: string): string {
  return NAME.exec(name)?.[2] ?? name;
}

export class RemoteTools {
  readonly #work: WorkQueue;
  readonly #deadlineMs: number;
  /** By transaction id: server-made, unique in the store. */
  readonly #expected = new Map<string, Expected>();
  readonly #running = new Map<string, Running>();
  /** By transaction and attempt; what they bring changes nothing and is kept (E6). */
  readonly #overdue = new Map<string, (result: RemoteResult) => void>();
  /** Steps under way by recorded name and tenant. */
  readonly #stepping = new Map<string, number>();

  /** `deadlineMs`: after it a call without CompleteStep is indeterminate. */
  constructor(work: WorkQueue, deadlineMs: number) {
    this.#work = work;
    this.#deadlineMs = deadlineMs;
  }

  /** The tool of a recorded name; null when the name is not remote or nobody is there (M2). */
  find(name: string, tenant: string): ToolShape | null {
    const [, effect, plain] = NAME.exec(name) ?? [];
    if (effect === undefined || plain === undefined) return null;
    if (!this.#stepping.has(stepKey(name, tenant)) && !this.#work.serves(plain, tenant))
      return null;
    return this.#tool(name, effect as EffectClass, plain);
  }

  /**
   * Announces a step of this tool; `prepared` is called once the intent is durable. The returned
   * function says that the step has ended. REQUIRES: no other step of the transaction is announced.
   */
  expect(
    transaction: string,
    { name, tenant }: { readonly name: string; readonly tenant: string },
    prepared: (call: PreparedCall) => void,
  ): () => void {
    const expected = { name, prepared };
    const key = stepKey(name, tenant);
    this.#expected.set(transaction, expected);
    this.#stepping.set(key, (this.#stepping.get(key) ?? 0) + 1);
    return () => {
      if (this.#expected.get(transaction) === expected) this.#expected.delete(transaction);
      const left = (this.#stepping.get(key) ?? 1) - 1;
      if (left === 0) this.#stepping.delete(key);
      else this.#stepping.set(key, left);
    };
  }

  /**
   * Ends the running call. STALE_ATTEMPT when it is not the one that runs: a result that comes after
   * its deadline, a rewind or the transaction's end is kept as evidence first (E6).
   */
  complete(transaction: string, attempt: number, result: RemoteResult): void {
    this.#keepLate(transaction, attempt, result);
    const running = this.#runningAttempt(transaction, attempt);
    this.#running.delete(transaction);
    running.finish(result);
  }

  /** Durable when it resolves (E4). STALE_ATTEMPT when the call is not the one that runs. */
  registerUndo(
    transaction: string,
    attempt: number,
    undo: { readonly action: string; readonly args: JsonValue },
  ): Promise<void> {
    const { context } = this.#runningAttempt(transaction, attempt);
    return context.registerUndo(UNDO_ACTION, { ...undo });
  }

  #keepLate(transaction: string, attempt: number, result: RemoteResult): void {
    const key = `${transaction}/${attempt}`;
    const keep = this.#overdue.get(key);
    this.#overdue.delete(key);
    keep?.(result);
  }

  #awaitLate(key: string, keep: (result: RemoteResult) => void): void {
    this.#overdue.set(key, keep);
    if (this.#overdue.size <= OVERDUE_MAX) return;
    const [oldest] = this.#overdue.keys();
    if (oldest !== undefined) this.#overdue.delete(oldest);
  }

  #runningAttempt(transaction: string, attempt: number): Running {
    const running = this.#running.get(transaction);
    if (running !== undefined && running.attempt === attempt) return running;
    throw new AgentTxError(
      "STALE_ATTEMPT",
      "This attempt does not run any more: it was completed, timed out or was fenced. Nothing was changed.",
      { details: { attempt } },
    );
  }

  #tool(name: string, effect: EffectClass, plain: string): ToolShape {
    const ask = (kind: WorkKind, call: AskedCall, context: UndoContext) =>
      this.#ask(kind, plain, call, context);
    const undoable = {
      compensate: async (call: AskedCall, context: UndoContext) =>
        undoResult(await ask("compensate", call, context)),
      lookup: async (call: AskedCall, context: UndoContext) =>
        lookupResult(await ask("lookup", call, context)),
      verify: async (call: AskedCall, context: UndoContext) =>
        verifyResult(await ask("verify", call, context)),
      undo: {
        [UNDO_ACTION]: async (args: JsonValue, context: UndoContext) => {
          // Written by registerUndo alone.
          const undo = args as { readonly action: string; readonly args: JsonValue };
          return undoResult(await ask("undo", undo, context));
        },
      },
    };
    return {
      name,
      schema: ANY_OBJECT,
      effect,
      deadlineMs: this.#deadlineMs,
      retry: 0,
      execute: (args: JsonObject, context: ToolContext) =>
        effect === "irreversible"
          ? this.#deliver(plain, args, context)
          : this.#execute(name, args, context),
      ...(effect === "reversible" ? undoable : {}),
    } as ToolShape;
  }

  #execute(name: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const { transaction, attempt, idempotencyKey, signal } = context;
    const expected = this.#expected.get(transaction);
    if (expected?.name !== name) {
      throw new DefiniteFailure("A tool of the caller's side is started by PrepareStep.");
    }
    this.#expected.delete(transaction);
    return new Promise<JsonValue>((resolve, reject) => {
      const finish = (result: RemoteResult) => {
        try {
          resolve(outputOf(context, result));
        } catch (error) {
          reject(error);
        }
      };
      const running: Running = { attempt, context, finish };
      this.#running.set(transaction, running);
      // The engine has decided by now. The call stays open for what still comes of it.
      const stop = () => {
        if (this.#running.get(transaction) !== running) return;
        this.#running.delete(transaction);
        this.#awaitLate(`${transaction}/${attempt}`, (late) => {
          if (late.ok) resolve(late.output);
          else reject(remoteError(late.text, late.definite));
        });
      };
      signal.addEventListener("abort", stop, { once: true });
      expected.prepared({ argumentsJson: JSON.stringify(args), idempotencyKey, attempt });
    });
  }

  /** A staged effect after the commit; the engine repeats it by its rules (E7). */
  async #deliver(plain: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const { namespace, transaction, step, idempotencyKey, signal } = context;
    const answer = await this.#work.request(
      {
        tenant: namespace,
        kind: "deliver",
        tool: plain,
        toolVersion: "1",
        transaction,
        step,
        effectId: "",
        idempotencyKey,
        undoKey: "",
        argumentsJson: JSON.stringify(args),
        outputJson: "",
        action: "",
        deadlineMs: this.#deadlineMs,
      },
      signal,
    );
    return deliverResult(answer);
  }

  #ask(kind: WorkKind, plain: string, call: AskedCall, context: UndoContext): Promise<WorkAnswer> {
    const item: Omit<WorkItem, "workId"> = {
      tenant: context.namespace,
      kind,
      tool: plain,
      toolVersion: "1",
      transaction: context.transaction,
      step: context.step,
      effectId: context.effectId,
      idempotencyKey: context.idempotencyKey,
      undoKey: context.undoKey,
      argumentsJson: JSON.stringify(call.args),
      outputJson: call.output === undefined ? "" : JSON.stringify(call.output),
      action: call.action ?? "",
      deadlineMs: kind === "lookup" || kind === "verify" ? LOOKUP_MS : this.#deadlineMs,
    };
    return this.#work.request(item, context.signal);
  }
}

/** What the engine gives one lookup or verification. */
const LOOKUP_MS = 10_000;

interface AskedCall {
  readonly args: JsonValue;
  readonly output?: JsonValue;
  readonly action?: string;
}

function outputOf(context: ToolContext, result: RemoteResult): JsonValue {
  if (!result.ok) throw remoteError(result.text, result.definite);
  for (const { key, value } of result.writes) {
    if (value === null) context.state.delete(key);
    else context.state.put(key, value);
  }
  return result.output;
}

/** The caller's side knows its own arguments; here they only have to be an object. */
const ANY_OBJECT = {
  "~standard": {
    version: 1,
    vendor: "agenttx",
    validate: (value: unknown) => ({ value: value as JsonObject }),
  },
} as const;

function stepKey(name: string, tenant: string): string {
  return JSON.stringify([tenant, name]);
}
