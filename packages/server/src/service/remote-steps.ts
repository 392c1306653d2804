// Owns PrepareStep, RegisterUndo and CompleteStep: a step whose tool runs on the caller's side.
//
//   I1 A running step is kept by transaction until the next one. A repeated PrepareStep joins it
//      while it runs and gets its outcome afterwards: the tool is never started twice for one
//      request. After a restart the engine's stored answer takes its place.
//      A step that ended before its tool was started is not kept: the engine keeps its answer.
//   I2 A second PrepareStep of another request is refused while one runs (P3).

import type { Transaction } from "@agenttx/engine";
import { AgentTxError, type JsonValue, limits } from "@agenttx/model";
import { outcomeToWire, type steps } from "@agenttx/wire";
import { requireScope, requireTool } from "../auth/principal.js";
import { type PreparedCall, type RemoteResult, remoteToolName } from "../work/remote-tools.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { find, findOwned, stepOptions } from "./transactions.js";

interface RemoteStep {
  /** Everything that was asked: an equal request is the same step. */
  readonly key: string;
  readonly requestId: string;
  readonly prepared: Promise<steps.PrepareStepResponse>;
  readonly outcome: Promise<steps.ExecuteStepResponse>;
  attempt: number | null;
  state: "running" | "answered" | "threw";
}

export class RemoteSteps {
  readonly #deps: ServiceDeps;
  /** The last prepared step of each open transaction, running or just completed. */
  readonly #steps = new Map<string, RemoteStep>();

  constructor(deps: ServiceDeps) {
    this.#deps = deps;
  }

  /** Steps that are kept: at most one of each open transaction. */
  get kept(): number {
    return this.#steps.size;
  }

  /** Forgets what it kept of a transaction that has ended. */
  forget(transaction: string): void {
    this.#steps.delete(transaction);
  }

  async prepare(
    context: CallContext,
    request: steps.PrepareStepRequest,
  ): Promise<steps.PrepareStepResponse> {
    requireScope(context.principal, "run");
    requireTool(context.principal, request.toolName);
    const name = remoteToolName(request.effectClass, request.toolName);
    const tx = await findOwned(this.#deps, context, request);
    const { requestId, stepId, argumentsJson, rawContext } = request;
    const key = JSON.stringify([requestId, stepId, name, argumentsJson, rawContext]);
    const known = this.#steps.get(tx.id);
    if (known !== undefined && requestId !== "" && known.key === key) {
      if (known.state === "running") return known.prepared;
      // One that threw decided nothing: the engine is asked again.
      if (known.state === "answered") return answered(await known.outcome);
    }
    if (known?.state === "running") throw busy(stepId);
    const step = this.#start(tx, name, { key, requestId }, () =>
      tx.step(name, {}, stepOptions(request)).then(outcomeToWire),
    );
    this.#steps.set(tx.id, step);
    return step.prepared;
  }

  async registerUndo(
    context: CallContext,
    request: steps.RegisterUndoRequest,
  ): Promise<steps.RegisterUndoResponse> {
    requireScope(context.principal, "run");
    const tx = await find(this.#deps, context, request.transactionId);
    const { action, argumentsJson } = request;
    if (action === "" || Buffer.byteLength(action) > limits.TOOL_NAME_BYTES_MAX) {
      throw refused("`action` is missing or too long", "action");
    }
    const args = readJson(argumentsJson, "arguments_json");
    await this.#deps.remote.registerUndo(tx.id, Number(request.attempt), { action, args });
    return {};
  }

  async complete(
    context: CallContext,
    request: steps.CompleteStepRequest,
  ): Promise<steps.CompleteStepResponse> {
    requireScope(context.principal, "run");
    const tx = await find(this.#deps, context, request.transactionId);
    const attempt = Number(request.attempt);
    const result = readResult(request);
    const known = this.#steps.get(tx.id);
    try {
      this.#deps.remote.complete(tx.id, attempt, result);
    } catch (error) {
      // A repeated CompleteStep of the same attempt gets the answer of the first.
      if (known?.attempt === attempt) return { outcome: await known.outcome };
      throw error;
    }
    if (known === undefined) throw new Error("a running step that nobody prepared");
    return { outcome: await known.outcome };
  }

  #start(
    { id: transaction, namespace: tenant }: Pick<Transaction, "id" | "namespace">,
    name: string,
    asked: Pick<RemoteStep, "key" | "requestId">,
    run: () => Promise<steps.ExecuteStepResponse>,
  ): RemoteStep {
    let stopExpecting = () => {};
    const called = new Promise<PreparedCall>((resolve) => {
      stopExpecting = this.#deps.remote.expect(transaction, { name, tenant }, resolve);
    });
    const outcome = run().then(
      (answer) => {
        step.state = "answered";
        return answer;
      },
      (error) => {
        step.state = "threw";
        throw error;
      },
    );
    const ended = () => {
      stopExpecting();
      // Also a step of a transaction that has ended, which nothing would take out again (I1).
      if (step.attempt === null && this.#steps.get(transaction) === step) this.forget(transaction);
    };
    outcome.then(ended, ended);
    const prepared = Promise.race([
      called.then((call) => {
        step.attempt = call.attempt;
        return preparedResponse(call);
      }),
      outcome.then(answered),
    ]);
    const step: RemoteStep = { ...asked, prepared, outcome, attempt: null, state: "running" };
    // The answer may come long after this call; whoever completes the step sees its error.
    prepared.catch(() => {});
    return step;
  }
}

function preparedResponse(call: PreparedCall): steps.PrepareStepResponse {
  const { argumentsJson, idempotencyKey, attempt } = call;
  return { outcome: undefined, argumentsJson, idempotencyKey, attempt: BigInt(attempt) };
}

/** Nothing is to be run. */
function answered(outcome: steps.ExecuteStepResponse): steps.PrepareStepResponse {
  return { outcome, argumentsJson: "", idempotencyKey: "", attempt: 0n };
}

function readResult(request: steps.CompleteStepRequest): RemoteResult {
  const { result } = request;
  if (result === undefined) throw refused("`result` is missing", "result");
  if (result.$case === "error") {
    return { ok: false, text: result.value.text, definite: result.value.definite };
  }
  const output = readJson(result.value, "output_json");
  const writes = request.writes.map(({ key, value }) => {
    if (key.length < 1 || key.length > limits.KEY_BYTES_MAX) {
      throw refused(`a key has 1..${limits.KEY_BYTES_MAX} bytes`, "writes");
    }
    return { key, value: value ?? null };
  });
  return { ok: true, output, writes };
}

/** "" is null: proto3 has no absent text. */
function readJson(text: string, field: string): JsonValue {
  try {
    return JSON.parse(text === "" ? "null" : text) as JsonValue;
  } catch {
    throw refused(`\`${field}\` is not JSON`, field);
  }
}

function refused(what: string, field: string): AgentTxError {
  return new AgentTxError("INVALID_ARGUMENT", `${what}; the step still runs.`, {
    details: { field },
  });
}

function busy(step: number): AgentTxError {
  return new AgentTxError(
    "STEP_IN_PROGRESS",
    "A prepared step of this transaction has not been completed; this call changed nothing.",
    { details: { step } },
  );
}
