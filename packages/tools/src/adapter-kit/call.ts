// Owns one call of the tool under test, made and undone the way the engine does: arguments through
// the schema, undo registered as JSON, newest first, verified (E4, E8, E9).

import type { JsonValue, ToolContext, ToolState, UndoContext, UndoResult } from "@agenttx/model";
import type { AdapterTool } from "./world.js";

export type Settled =
  | { readonly kind: "done"; readonly output: JsonValue }
  | { readonly kind: "threw"; readonly error: unknown; readonly definite: boolean };

export type LookupAnswer =
  | { readonly status: "landed"; readonly output: JsonValue | undefined }
  | { readonly status: "absent"; readonly final: boolean }
  | { readonly status: "unknown" };

interface Registered {
  readonly action: string;
  readonly args: JsonValue;
}

const STATE: ToolState = {
  get: async () => null,
  put: () => undefined,
  delete: () => undefined,
  scan: async () => [],
};

function throughJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value ?? null)) as JsonValue;
}

export class AdapterCall {
  readonly #tool: AdapterTool;
  readonly #sent: JsonValue;
  readonly key: string;
  readonly #registered: Registered[] = [];
  readonly #aborter = new AbortController();
  /** Called when an undo was registered; it may throw, as a fenced attempt does. */
  onRegister: () => Promise<void> | void = () => undefined;
  #output: JsonValue = null;

  constructor(tool: AdapterTool, sent: JsonValue, key: string) {
    this.#tool = tool;
    this.#sent = sent;
    this.key = key;
  }

  abort(): void {
    this.#aborter.abort(new Error("the deadline passed"));
  }

  /** Runs the tool; never rejects. A repeated run is a retry with the same key. */
  async run(): Promise<Settled> {
    try {
      const output = await this.#tool.execute(await this.#args(), this.#context());
      this.#output = throughJson(output);
      return { kind: "done", output: this.#output };
    } catch (error) {
      const definite = typeof error === "object" && error !== null && "definite" in error;
      return { kind: "threw", error, definite: definite && error.definite === true };
    }
  }

  /** Undoes what is recorded of the call, with its output or, for a lost answer, without. */
  async undo(known: "output" | "no output" = "output"): Promise<UndoResult["status"]> {
    const { undo = {}, compensate, verify } = this.#tool;
    const context = this.#undoContext("undo");
    let status: UndoResult["status"] = "already-undone";
    for (const { action, args } of [...this.#registered].reverse()) {
      const act = undo[action];
      if (act === undefined) throw new Error(`undo action ${action} is not declared`);
      status = statusOf(await act(args, context));
      if (status === "dirty") return status;
    }
    const args = await this.#args();
    // The tool forgets its argument types here; these passed its schema.
    const call = { args, output: (known === "output" ? this.#output : null) as never };
    if (compensate !== undefined) {
      status = statusOf(await compensate.call(this.#tool, call, context));
      if (status === "dirty") return status;
    }
    if (verify !== undefined && (await verify.call(this.#tool, call, context)) !== true) {
      throw new Error("verify still finds the effect after its undo");
    }
    return status;
  }

  async lookup(): Promise<LookupAnswer> {
    const call = { args: await this.#args(), idempotencyKey: this.key };
    const answer = await this.#tool.lookup?.(call, this.#undoContext("lookup"));
    const status =
      typeof answer === "object" && answer !== null ? Reflect.get(answer, "status") : 0;
    if (status === "landed") return { status, output: Reflect.get(Object(answer), "output") };
    if (status === "absent")
      return { status, final: Reflect.get(Object(answer), "final") === true };
    return { status: "unknown" };
  }

  async #args(): Promise<never> {
    const checked = await this.#tool.schema["~standard"].validate(throughJson(this.#sent));
    if (checked.issues !== undefined) {
      throw new Error(`the world's arguments fail the schema: ${checked.issues[0]?.message}`);
    }
    return checked.value as never;
  }

  #context(): ToolContext {
    return {
      transaction: `conformance-${this.key}`,
      namespace: "",
      step: 1,
      attempt: 1,
      idempotencyKey: this.key,
      signal: this.#aborter.signal,
      state: STATE,
      registerUndo: async (action, args) => {
        this.#registered.push({ action, args: throughJson(args) });
        await this.onRegister();
      },
    };
  }

  #undoContext(what: "undo" | "lookup"): UndoContext {
    return {
      transaction: `conformance-${this.key}`,
      namespace: "",
      step: 1,
      effectId: `conformance-${this.key}/1`,
      idempotencyKey: this.key,
      undoKey: `conformance-${this.key}/1/${what}`,
      signal: new AbortController().signal,
    };
  }
}

/** As the engine reads it: nothing means undone. */
function statusOf(result: unknown): UndoResult["status"] {
  if (result === undefined || result === null) return "undone";
  const status: unknown = typeof result === "object" ? Reflect.get(result, "status") : null;
  if (status === "undone" || status === "already-undone" || status === "dirty") return status;
  throw new Error("the undo gave an answer that it may not give");
}
