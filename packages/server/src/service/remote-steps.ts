// Owns PrepareStep and CompleteStep: a step whose tool runs on the caller's side.
//
//   The running step is kept by transaction until it is answered. A repeated PrepareStep with the
//   same request id joins it; after a restart the engine's stored answer takes its place.

import { AgentTxError, type JsonValue } from "@agenttx/model";
import { outcomeToWire, type steps } from "@agenttx/wire";
import { requireScope, requireTool } from "../auth/principal.js";
import { type PreparedCall, type RemoteResult, remoteToolName } from "../work/remote-tools.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { find, stepOptions } from "./transactions.js";

interface RunningStep {
  readonly key: string;
  readonly prepared: steps.PrepareStepResponse;
  readonly outcome: Promise<steps.ExecuteStepResponse>;
  readonly attempt: number;
}

export class RemoteSteps {
  readonly #deps: ServiceDeps;
  /** The last prepared step of each open transaction, running or just completed. */
  readonly #steps = new Map<string, RunningStep>();

  constructor(deps: ServiceDeps) {
    this.#deps = deps;
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
    const tx = await find(this.#deps, context, request.transactionId);
    const key = JSON.stringify([
      request.requestId,
      request.stepId,
      name,
      request.argumentsJson,
      request.rawContext,
    ]);
    const known = this.#steps.get(tx.id);
    if (known !== undefined && request.requestId !== "" && known.key === key) return known.prepared;

    let stopExpecting = () => {};
    const prepared = new Promise<PreparedCall>((resolve) => {
      stopExpecting = this.#deps.remote.expect(tx.id, resolve);
    });
    const outcome = tx.step(name, {}, stepOptions(request)).then(outcomeToWire);
    // The answer may come long after this call; whoever completes the step sees its error.
    outcome.catch(() => {});
    const first = await Promise.race([prepared, outcome.then((answer) => ({ answer }))]).finally(
      stopExpecting,
    );
    if ("answer" in first) return { ...NOTHING_PREPARED, outcome: first.answer };
    const response = {
      outcome: undefined,
      argumentsJson: first.argumentsJson,
      idempotencyKey: first.idempotencyKey,
      attempt: BigInt(first.attempt),
      effectId: "",
    };
    this.#steps.set(tx.id, { key, prepared: response, outcome, attempt: first.attempt });
    return response;
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
    if (known === undefined)
      throw new AgentTxError("INTERNAL", "a running step that nobody prepared");
    return { outcome: await known.outcome };
  }
}

const NOTHING_PREPARED = { argumentsJson: "", idempotencyKey: "", attempt: 0n, effectId: "" };

function readResult(request: steps.CompleteStepRequest): RemoteResult {
  const { result } = request;
  if (result === undefined) throw refused("`result` is missing", "result");
  if (result.$case === "error") {
    return { ok: false, text: result.value.text, definite: result.value.definite };
  }
  let output: JsonValue;
  try {
    output = JSON.parse(result.value === "" ? "null" : result.value) as JsonValue;
  } catch {
    throw refused("`output_json` is not JSON", "output_json");
  }
  const writes = request.writes.map(({ key, value }) => ({ key, value: value ?? null }));
  return { ok: true, output, writes };
}

function refused(what: string, field: string): AgentTxError {
  return new AgentTxError("INVALID_ARGUMENT", `${what}; the step still runs.`, {
    details: { field },
  });
}
