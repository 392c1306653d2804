// Owns tools that run on the caller's side. Their name in the records is `remote:<class>:<name>`, so
// that a server that knows nothing else can undo them after any restart: nothing is registered.
//
//   A step: PrepareStep starts it, the engine makes the intent durable and calls `execute`, which
//   hands arguments and key to the waiting caller; CompleteStep ends `execute`. Everything else
//   (deadline, indeterminate, lookup, compensation) is the engine's and goes through the work queue.

import type { ToolShape } from "@agenttx/engine";
import {
  AgentTxError,
  DefiniteFailure,
  type EffectClass,
  type JsonObject,
  type JsonValue,
  type LookupResult,
  type ToolContext,
  type UndoContext,
  type UndoResult,
} from "@agenttx/model";
import type { WorkAnswer, WorkKind, WorkQueue } from "./work-queue.js";

const CLASSES: readonly EffectClass[] = ["read-only", "reversible", "irreversible"];
const NAME = /^remote:(read-only|reversible|irreversible):(.+)$/;

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
  readonly prepared: (call: PreparedCall) => void;
}

interface Running {
  readonly attempt: number;
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

export class RemoteTools {
  readonly #work: WorkQueue;
  readonly #deadlineMs: number;
  /** By transaction id: server-made, unique in the store. */
  readonly #expected = new Map<string, Expected>();
  readonly #running = new Map<string, Running>();

  /** `deadlineMs`: after it a call without CompleteStep is indeterminate. */
  constructor(work: WorkQueue, deadlineMs: number) {
    this.#work = work;
    this.#deadlineMs = deadlineMs;
  }

  /** The tool of a recorded name, or null when the name is not remote. */
  find(name: string): ToolShape | null {
    const [, effect, plain] = NAME.exec(name) ?? [];
    if (effect === undefined || plain === undefined) return null;
    return this.#tool(name, effect as EffectClass, plain);
  }

  /** Announces a PrepareStep; `prepared` is called once the intent is durable. */
  expect(transaction: string, prepared: (call: PreparedCall) => void): () => void {
    const expected = { prepared };
    this.#expected.set(transaction, expected);
    return () => {
      if (this.#expected.get(transaction) === expected) this.#expected.delete(transaction);
    };
  }

  /** Ends the running call. STALE_ATTEMPT when it is not the one that runs. */
  complete(transaction: string, attempt: number, result: RemoteResult): void {
    const running = this.#running.get(transaction);
    if (running === undefined || running.attempt !== attempt) {
      throw new AgentTxError(
        "STALE_ATTEMPT",
        "This attempt does not run any more: it was completed, timed out or was fenced. Nothing was changed.",
        { details: { attempt } },
      );
    }
    this.#running.delete(transaction);
    running.finish(result);
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
        (await ask("verify", call, context)).status !== "still-there",
    };
    return {
      name,
      schema: ANY_OBJECT,
      effect,
      deadlineMs: this.#deadlineMs,
      retry: 0,
      execute: (args: JsonObject, context: ToolContext) => this.#execute(plain, args, context),
      ...(effect === "reversible" ? undoable : {}),
    } as ToolShape;
  }

  #execute(plain: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const { transaction, attempt, idempotencyKey, signal } = context;
    const expected = this.#expected.get(transaction);
    // Nobody prepared it: this is the delivery of a staged effect after commit.
    if (expected === undefined) return this.#deliver(plain, args, context);
    this.#expected.delete(transaction);
    return new Promise<JsonValue>((resolve, reject) => {
      const running: Running = {
        attempt,
        finish: (result) => {
          if (!result.ok) {
            reject(result.definite ? new DefiniteFailure(result.text) : new Error(result.text));
            return;
          }
          for (const { key, value } of result.writes) {
            if (value === null) context.state.delete(key);
            else context.state.put(key, value);
          }
          resolve(result.output);
        },
      };
      this.#running.set(transaction, running);
      signal.addEventListener(
        "abort",
        () => {
          if (this.#running.get(transaction) === running) this.#running.delete(transaction);
          reject(signal.reason);
        },
        { once: true },
      );
      expected.prepared({ argumentsJson: JSON.stringify(args), idempotencyKey, attempt });
    });
  }

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
      },
      signal,
    );
    if (answer.status !== "delivered") throw new Error(answer.message);
    return parseOutput(answer) ?? null;
  }

  #ask(kind: WorkKind, plain: string, call: AskedCall, context: UndoContext): Promise<WorkAnswer> {
    return this.#work.request(
      {
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
        action: "",
      },
      context.signal,
    );
  }
}

interface AskedCall {
  readonly args: JsonValue;
  readonly output?: JsonValue;
}

/** The caller's side knows its own arguments; here they only have to be an object. */
const ANY_OBJECT = {
  "~standard": {
    version: 1,
    vendor: "agenttx",
    validate: (value: unknown) => ({ value: value as JsonObject }),
  },
} as const;

function undoResult(answer: WorkAnswer): UndoResult {
  if (answer.status === "undone" || answer.status === "already-undone") {
    return { status: answer.status };
  }
  if (answer.status === "dirty") {
    return { status: "dirty", expected: "as the step left it", found: answer.message };
  }
  throw new Error(answer.message === "" ? "the worker reported an error" : answer.message);
}

function lookupResult(answer: WorkAnswer): LookupResult {
  switch (answer.status) {
    case "landed": {
      const output = parseOutput(answer);
      return output === undefined ? { status: "landed" } : { status: "landed", output };
    }
    case "absent":
      return { status: "absent", final: false };
    case "absent-final":
      return { status: "absent", final: true };
    default:
      return { status: "unknown" };
  }
}

function parseOutput(answer: WorkAnswer): JsonValue | undefined {
  return answer.outputJson === "" ? undefined : (JSON.parse(answer.outputJson) as JsonValue);
}
