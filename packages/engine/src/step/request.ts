// Owns a step request as the engine sees it: arguments copied, measured and as text, once.
import { AgentTxError, isAgentTxError, type JsonValue, limits } from "@agenttx/model";
import { canonicalText } from "../canonical-text.js";
import { parseJson, toJson } from "../json-text.js";
import { requestDigest, requireRequestId, textDigest } from "../requests.js";
import { readableThrown } from "../thrown.js";
import { type FailureCause, ownHint } from "./failure-cause.js";

export interface StepOptions {
  /** The step this call is meant to be; refused with STEP_OUT_OF_ORDER when another is next. */
  readonly stepId?: number;
  /** Repeating a call with the same id never runs it again (P1). 1..128 bytes. */
  readonly requestId?: string;
  /** Text kept with the step for the agent's context log; at most 1 MiB. */
  readonly rawContext?: string;
  /** Stops the call: it is undone and throws ABORTED_BY_SIGNAL; the transaction stays open. */
  readonly signal?: AbortSignal;
  /** Arguments as JSON text from outside; `args` is ignored then. */
  readonly argumentsJson?: string;
}

export interface StepRequest {
  readonly tool: string;
  /** null: they are not JSON, and `failure` says why. */
  readonly args: JsonValue | null;
  readonly argsText: string;
  readonly failure: FailureCause | null;
  readonly stepId: number | null;
  readonly requestId: string | null;
  readonly rawContext: string | null;
  readonly signal: AbortSignal | null;
  /** See `stepDigest`; null until it is asked for. */
  digest: string | null;
}

/** Throws INVALID_ARGUMENT for what is the caller's misuse; arguments are the agent's and fail. */
export function readStepRequest(tool: string, args: unknown, options: StepOptions): StepRequest {
  requireToolName(tool);
  requireOptions(options);
  const { stepId, requestId, rawContext, argumentsJson } = options;
  if (stepId !== undefined) requireStepId(stepId);
  if (requestId !== undefined) requireRequestId(requestId);
  if (rawContext !== undefined) requireContext(rawContext);
  const read = readArguments(args, argumentsJson);
  return {
    tool,
    args: read.args,
    argsText: read.text,
    failure: read.failure,
    stepId: stepId ?? null,
    requestId: requestId ?? null,
    rawContext: rawContext ?? null,
    signal: options.signal ?? null,
    digest: null,
  };
}

/** Equal for equal content; made only when something is compared, and once. */
export function stepDigest(request: StepRequest): string {
  const { tool, args, argsText } = request;
  request.digest ??=
    args === null
      ? requestDigest("step", tool, argsText)
      : textDigest("step", tool, canonicalText(args, argsText));
  return request.digest;
}

function readArguments(
  args: unknown,
  json: string | undefined,
): { args: JsonValue | null; text: string; failure: FailureCause | null } {
  try {
    const max = limits.ARGUMENTS_BYTES_MAX;
    const { value, text } = json === undefined ? toJson(args, max) : parseJson(json, max);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { args: value, text, failure: null };
    }
    const failure = ownHint("type_mismatch", "arguments-no-object");
    return { args: null, text: text.slice(0, 1_000), failure };
  } catch (error) {
    return {
      args: null,
      text: (json ?? "").slice(0, 1_000),
      failure: argumentsFailure(readableThrown(error)),
    };
  }
}

function argumentsFailure(error: unknown): FailureCause {
  if (!isAgentTxError(error)) return ownHint("syntax_error", "arguments-not-json");
  if (error.code === "PAYLOAD_TOO_LARGE") {
    return ownHint("payload_too_large", "arguments-too-large");
  }
  return error.message.includes("not valid JSON")
    ? ownHint("syntax_error", "arguments-not-json")
    : ownHint("invalid_value", "arguments-refused");
}

function requireToolName(tool: string): void {
  const bytes = typeof tool === "string" ? Buffer.byteLength(tool) : 0;
  if (bytes >= 1 && bytes <= limits.TOOL_NAME_BYTES_MAX) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `A tool name has 1..${limits.TOOL_NAME_BYTES_MAX} bytes; nothing was run.`,
    { details: { field: "tool", bytes } },
  );
}

/** The types hold for callers that have them; others are told what is wrong. */
function requireOptions(options: unknown): void {
  const given = typeof options === "object" && options !== null ? options : null;
  if (given === null) refuseOption("options", "Options are an object, or left out");
  const { rawContext, argumentsJson, signal } = given as Record<string, unknown>;
  if (rawContext !== undefined && typeof rawContext !== "string") {
    refuseOption("rawContext", "The raw context is text");
  }
  if (argumentsJson !== undefined && typeof argumentsJson !== "string") {
    refuseOption("argumentsJson", "Arguments as JSON are text");
  }
  if (signal !== undefined && !isSignal(signal)) {
    refuseOption("signal", "A signal is an AbortSignal");
  }
}

/** Those of other realms and libraries too. */
function isSignal(signal: unknown): boolean {
  const { aborted, addEventListener } = (signal ?? {}) as Record<string, unknown>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}

function refuseOption(field: string, what: string): never {
  throw new AgentTxError("INVALID_ARGUMENT", `${what}; nothing was run.`, { details: { field } });
}

function requireStepId(stepId: number): void {
  if (Number.isSafeInteger(stepId) && stepId >= 1) return;
  throw new AgentTxError("INVALID_ARGUMENT", "A step id is a whole number from 1.", {
    details: { field: "stepId" },
  });
}

function requireContext(rawContext: string): void {
  const max = limits.RAW_CONTEXT_BYTES_MAX;
  if (rawContext.length * 3 <= max || Buffer.byteLength(rawContext) <= max) return;
  throw new AgentTxError(
    "PAYLOAD_TOO_LARGE",
    `The raw context is over ${max} bytes; nothing was run.`,
    { details: { field: "rawContext", bytesMax: max } },
  );
}
