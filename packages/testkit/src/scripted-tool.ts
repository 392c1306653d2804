// Owns tools that do what a script says, call by call, and keep account of every call.
//
//   X1 Each call takes the next line of its script. A call beyond the script fails the test that
//      made it, with a DefiniteFailure that says so; nothing is repeated silently.
//   X2 What lands is done to the effect world before the call answers, throws or hangs.

import {
  type ArgumentSchema,
  DefiniteFailure,
  type EffectClass,
  type JsonObject,
  type JsonValue,
  type LookupResult,
  type ToolContext,
  type ToolDefinition,
  type UndoContext,
  type UndoResult,
} from "@agenttx/model";
import type { EffectWorld } from "./effect-world.js";

/** One execution. `lands`: the effect takes place first. */
export type ExecuteLine =
  | { readonly answers: JsonValue; readonly registers?: readonly Registration[] }
  | { readonly throws: string | Error; readonly lands?: boolean }
  /** Certainly nothing happened. */
  | { readonly refuses: string }
  /** Until its signal aborts; then it rejects with the signal's reason. */
  | { readonly hangs: true; readonly lands?: boolean }
  /** Does not even listen to its signal: settles only when `release` is called. */
  | { readonly deaf: true; readonly lands?: boolean; readonly answersLate: JsonValue };

export interface Registration {
  readonly action: string;
  readonly args: JsonValue;
}

export type UndoLine =
  | UndoResult
  | { readonly throws: string | Error; readonly lands?: boolean }
  | { readonly hangs: true };

export type LookupLine =
  | LookupResult
  | { readonly throws: string | Error }
  | { readonly hangs: true };

export type VerifyLine = boolean | { readonly throws: string | Error };

export interface ScriptedToolOptions<Name extends string> {
  readonly name: Name;
  readonly effect: EffectClass;
  readonly script: readonly ExecuteLine[];
  /**
   * Lines for compensations; `world`: the effect is taken back from `world` each time. Omitted on a
   * reversible tool: `world`.
   */
  readonly compensate?: readonly UndoLine[] | "world";
  /** `world`: landed when it stands in `world`, else absent and final. Omitted: no lookup. */
  readonly lookup?: readonly LookupLine[] | "world";
  /** `world`: true when nothing stands in `world`. Omitted: no verify. */
  readonly verify?: readonly VerifyLine[] | "world";
  /** Where effects take place. Omitted: nowhere, only calls are recorded. */
  readonly world?: EffectWorld;
  /** Anything else of a definition: scope, deadline, retry, version, irreversible, undo ... */
  readonly definition?: Partial<Omit<ToolDefinition<Name>, "name" | "effect" | "execute">>;
}

export interface ScriptedCall {
  readonly kind: "execute" | "compensate" | "lookup" | "verify";
  readonly args: JsonObject;
  readonly transaction: string;
  readonly step: number;
  /** 0 for calls that are no executions. */
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Key of the undo, null for executions. */
  readonly undoKey: string | null;
}

export interface ScriptedTool<Name extends string> extends ToolDefinition<Name> {
  /** Every call so far, in order. */
  readonly calls: readonly ScriptedCall[];
  /** Lines of the execution script that no call has taken yet. */
  readonly linesLeft: number;
  /** Lets deaf calls answer. */
  release(): void;
}

const ANY_OBJECT: ArgumentSchema<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "agenttx-testkit",
    validate: (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? { value: value as JsonObject }
        : { issues: [{ message: "arguments are an object" }] },
  },
};

/** A tool that follows its scripts; its arguments are any JSON object. */
export function scriptedTool<const Name extends string>(
  options: ScriptedToolOptions<Name>,
): ScriptedTool<Name> {
  const { name, effect, world } = options;
  const calls: ScriptedCall[] = [];
  const script = lines(options.script, `${name}.execute`);
  const deaf = deafCalls();
  const land = (key: string, args: JsonObject): void => void world?.do(key, args);
  const record = (kind: ScriptedCall["kind"], args: JsonObject, context: UndoContext): void => {
    const { transaction, step, idempotencyKey, undoKey } = context;
    calls.push({ kind, args, transaction, step, attempt: 0, idempotencyKey, undoKey });
  };

  const execute = async (args: JsonObject, context: ToolContext): Promise<JsonValue> => {
    const { transaction, step, attempt, idempotencyKey } = context;
    const about = { transaction, step, attempt, idempotencyKey, undoKey: null };
    calls.push({ kind: "execute", args, ...about });
    const line = script.next();
    if ("refuses" in line) throw new DefiniteFailure(line.refuses);
    if ("answers" in line) {
      for (const { action, args: of } of line.registers ?? []) {
        await context.registerUndo(action, of);
      }
      if (effect !== "read-only") land(idempotencyKey, args);
      return line.answers;
    }
    if (line.lands === true) land(idempotencyKey, args);
    if ("throws" in line) throw asError(line.throws);
    if ("deaf" in line) return deaf.wait(line.answersLate);
    return aborted(context.signal);
  };

  return {
    schema: ANY_OBJECT,
    ...options.definition,
    name,
    effect,
    execute,
    ...compensation(options, record),
    ...lookup(options, record),
    ...verification(options, record),
    calls,
    get linesLeft() {
      return script.left();
    },
    release: deaf.release,
  };
}

type RecordCall = (kind: ScriptedCall["kind"], args: JsonObject, context: UndoContext) => void;
type Part = ScriptedToolOptions<string>;

function compensation(options: Part, record: RecordCall): Pick<ToolDefinition, "compensate"> {
  const declared = options.compensate ?? (options.effect === "reversible" ? "world" : undefined);
  const store = options.definition?.scope === "store";
  if (declared === undefined || (store && options.compensate === undefined)) return {};
  const script = declared === "world" ? null : lines(declared, `${options.name}.compensate`);
  return {
    compensate: async ({ args }, context) => {
      record("compensate", args, context);
      const takeBack = (): UndoResult => ({
        status: options.world?.undo(context.idempotencyKey) ?? "undone",
      });
      if (script === null) return takeBack();
      const line = script.next();
      if ("status" in line) {
        if (line.status === "undone") takeBack();
        return line;
      }
      if ("hangs" in line) return aborted(context.signal);
      if (line.lands === true) takeBack();
      throw asError(line.throws);
    },
  };
}

function lookup(options: Part, record: RecordCall): Pick<ToolDefinition, "lookup"> {
  const { lookup: declared, world } = options;
  if (declared === undefined) return {};
  const script = declared === "world" ? null : lines(declared, `${options.name}.lookup`);
  return {
    lookup: async ({ args }, context) => {
      record("lookup", args, context);
      if (script === null) {
        const landed = world?.stands(context.idempotencyKey) ?? false;
        return landed ? { status: "landed" } : { status: "absent", final: true };
      }
      const line = script.next();
      if ("status" in line) return line;
      if ("hangs" in line) return aborted(context.signal);
      throw asError(line.throws);
    },
  };
}

function verification(options: Part, record: RecordCall): Pick<ToolDefinition, "verify"> {
  const { verify: declared, world } = options;
  if (declared === undefined) return {};
  const script = declared === "world" ? null : lines(declared, `${options.name}.verify`);
  return {
    verify: async ({ args }, context) => {
      record("verify", args, context);
      if (script === null) return !(world?.stands(context.idempotencyKey) ?? false);
      const line = script.next();
      if (typeof line === "boolean") return line;
      throw asError(line.throws);
    },
  };
}

interface Lines<Line> {
  next(): Line;
  left(): number;
}

function lines<Line>(script: readonly Line[], what: string): Lines<Line> {
  let taken = 0;
  return {
    next: () => {
      const line = script[taken];
      if (line === undefined) {
        throw new DefiniteFailure(
          `${what}: the script has ${script.length} lines, one more was asked`,
        );
      }
      taken += 1;
      return line;
    },
    left: () => script.length - taken,
  };
}

function asError(of: string | Error): Error {
  return typeof of === "string" ? new Error(of) : of;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function deafCalls() {
  const waiting: (() => void)[] = [];
  return {
    wait: (answer: JsonValue): Promise<JsonValue> =>
      new Promise((resolve) => waiting.push(() => resolve(answer))),
    release: (): void => {
      for (const settle of waiting.splice(0)) settle();
    },
  };
}
