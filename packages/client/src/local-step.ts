// Owns a step whose tool runs in this process: PrepareStep, execute, CompleteStep.
//
//   L1 The intent is durable on the server before the tool runs, its result before we answer.
//   L2 A CompleteStep that came too late asks again with the same request id: the stored answer, or
//      a new attempt when the server undid the first one. The tool sees the same request at most
//      ATTEMPTS_MAX times, each with its attempt number and the key of its attempt group.

import {
  AgentTxError,
  isAgentTxError,
  type JsonObject,
  type JsonValue,
  type ToolContext,
} from "@agenttx/model";
import type { steps } from "@agenttx/wire";
import { StateWrites } from "./state-writes.js";
import { errorText, isDefinite, type LocalTool, outputText, readArguments } from "./tool-calls.js";
import type { Transport } from "./transport.js";

const ATTEMPTS_MAX = 3;
const DEADLINE_MS_DEFAULT = 30_000;

export interface LocalStep {
  readonly transport: Transport;
  readonly transaction: string;
  /** Of its owner; 0 = not compared. */
  readonly fencingToken: bigint;
  readonly step: number;
  readonly tool: LocalTool;
  readonly args: JsonObject;
  readonly rawContext: string;
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
}

/** The step's answer. Throws what `tx.step` throws. */
export async function runLocalStep(call: LocalStep): Promise<steps.ExecuteStepResponse> {
  for (let attempt = 1; ; attempt += 1) {
    const prepared = await prepare(call);
    if (prepared.outcome !== undefined) return prepared.outcome;
    const result = await execute(call, prepared);
    try {
      return await complete(call, prepared.attempt, result);
    } catch (error) {
      const late = isAgentTxError(error) && error.code === "STALE_ATTEMPT";
      if (!late || attempt >= ATTEMPTS_MAX) throw error;
    }
  }
}

function prepare(call: LocalStep): Promise<steps.PrepareStepResponse> {
  const { transport, transaction, step, tool, args, rawContext, requestId, signal } = call;
  const effect = typeof tool.effect === "function" ? tool.effect(args as never) : tool.effect;
  return transport.call(
    "prepare",
    {
      transactionId: transaction,
      stepId: step,
      toolName: tool.name,
      argumentsJson: JSON.stringify(args),
      rawContext,
      requestId,
      effectClass: effect,
      fencingToken: call.fencingToken,
    },
    { signal },
  );
}

type Result = Pick<steps.CompleteStepRequest, "result" | "writes">;

/** Whatever the tool does becomes a result; nothing is thrown. */
async function execute(call: LocalStep, prepared: steps.PrepareStepResponse): Promise<Result> {
  const { tool } = call;
  const state = new StateWrites();
  const stop = new AbortController();
  const timer = setTimeout(
    () => stop.abort(new Error("The tool's deadline has passed")),
    tool.deadlineMs ?? DEADLINE_MS_DEFAULT,
  );
  try {
    const args = await readArguments(tool, JSON.parse(prepared.argumentsJson) as JsonValue);
    const output = await tool.execute(args, contextOf(call, prepared, state, stop) as never);
    return {
      result: { $case: "outputJson", value: outputText(output) },
      writes: state.seal(),
    };
  } catch (error) {
    const definite = isDefinite(error);
    return { result: { $case: "error", value: { text: errorText(error), definite } }, writes: [] };
  } finally {
    clearTimeout(timer);
    state.seal();
  }
}

function contextOf(
  call: LocalStep,
  prepared: steps.PrepareStepResponse,
  state: StateWrites,
  stop: AbortController,
): ToolContext {
  const { transport, transaction, step, signal } = call;
  const registerUndo = async (action: string, args: JsonValue) => {
    await transport.call("registerUndo", {
      transactionId: transaction,
      attempt: prepared.attempt,
      action,
      argumentsJson: JSON.stringify(args),
    });
  };
  return {
    transaction,
    namespace: "",
    step,
    attempt: Number(prepared.attempt),
    idempotencyKey: prepared.idempotencyKey,
    signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
    state,
    registerUndo,
  };
}

/** Not stopped by the caller's signal: what the tool did must become known (P5). */
async function complete(
  call: LocalStep,
  attempt: bigint,
  { result, writes }: Result,
): Promise<steps.ExecuteStepResponse> {
  const { transport, transaction, step, requestId } = call;
  const { outcome } = await transport.call("complete", {
    transactionId: transaction,
    stepId: step,
    attempt,
    result,
    writes,
    requestId,
  });
  if (outcome === undefined) throw new AgentTxError("INTERNAL", "an answer without an outcome");
  return outcome;
}
