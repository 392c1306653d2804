// Owns the journey of one step from request to answer (architecture section 3).
//
//   I1 A repeated request runs nothing (P1). I2 A failure is an answer, infrastructure an error
//   (R9). I3 What a stopped or broken step may have left is undone before anything else runs.
import { AgentTxError, isAgentTxError, limits, type StepOutcome } from "@agenttx/model";
import type { Operation } from "../lock.js";
import { requireActive, stepOutOfOrder, stoppedBySignal } from "../refusals.js";
import { LAST_FAILURE, readAnswer, repeatedStep, requestDigest } from "../requests.js";
import { beginRollback, NOTHING_PENDING } from "../rollback.js";
import { isReady, makeReady } from "../settle.js";
import { hasEffects, type OpenTransaction, tell } from "../state.js";
import { DEADLINE_MS_DEFAULT, executeCall } from "./execute.js";
import {
  failStep,
  freezeUndecided,
  hintOf,
  type StepFailure,
  unsettledEffects,
} from "./failure.js";
import type { FailureCause } from "./failure-cause.js";
import { type Preparation, prepareCall, preparedTooLate } from "./prepare.js";
import type { ResolvedArguments } from "./references.js";
import { type StepRequest, stepDigest } from "./request.js";
import { StopControl, StoppedError } from "./stop-control.js";
import { recordStep } from "./success.js";

/** REQUIRES: `operation` holds the lock. */
export async function runStep(
  open: OpenTransaction,
  request: StepRequest,
  operation: Operation,
): Promise<StepOutcome> {
  const repeated = mayBeRepeated(open, request) ? await repeatedAnswer(open, request) : null;
  if (repeated !== null) return repeated;
  requireActive(open);
  if (!isReady(open)) {
    await makeReady(open);
    requireActive(open);
  }
  const step = open.nextStep;
  if (request.stepId !== null && request.stepId !== step) {
    throw stepOutOfOrder(request.stepId, step);
  }
  requireRoom(step);
  const control = new StopControl();
  operation.stop = (reason) => control.stop(reason);
  const unlisten = listen(request.signal, control);
  try {
    return await execute(open, request, control);
  } catch (error) {
    if (!isStopped(error)) noteBrokenStep(open, step);
    throw error;
  } finally {
    unlisten?.();
    operation.stop = null;
  }
}

async function execute(
  open: OpenTransaction,
  request: StepRequest,
  control: StopControl,
): Promise<StepOutcome> {
  const step = open.nextStep;
  if (open.engine.observer !== null) tell(open, "step-started", step, request.tool);
  const preparing = prepareCall(open, request);
  const prepared =
    preparing instanceof Promise ? await inTime(open, request, control, preparing) : preparing;
  if (prepared.call === null) {
    return failStep(open, failureOf(open, request, prepared.failure, prepared.resolved));
  }
  if (control.stopped) throw stoppedBySignal(step, control.reason);
  const { call } = prepared;
  const running = executeCall(open, call, control);
  const run = running instanceof Promise ? await running : running;
  switch (run.kind) {
    case "succeeded":
      return recordOrFail(open, request, call, run);
    case "failed":
      return failStep(open, failureOf(open, request, run.cause, call.resolved));
    case "unresolved": {
      const failure = failureOf(open, request, run.cause, call.resolved);
      return freezeUndecided(open, failure, await unsettledEffects(open));
    }
    case "stopped":
      return undoStopped(open, control);
  }
}

/** Schemas and secret sources are foreign code too: they cannot hold a transaction for ever (P5). */
async function inTime(
  open: OpenTransaction,
  request: StepRequest,
  control: StopControl,
  preparing: Promise<Preparation>,
): Promise<Preparation> {
  const { clock, registry } = open.engine;
  const deadlineMs = registry.find(request.tool, open.namespace)?.deadlineMs ?? DEADLINE_MS_DEFAULT;
  try {
    return await control.wait(preparing, clock, deadlineMs);
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    if (error.why === "stopped") throw stoppedBySignal(open.nextStep, control.reason);
    return preparedTooLate(request);
  }
}

/** Sizes are only known to the store: what it refuses as too large is the step's failure (S11). */
async function recordOrFail(
  open: OpenTransaction,
  request: StepRequest,
  call: Parameters<typeof recordStep>[2],
  run: Parameters<typeof recordStep>[3],
): Promise<StepOutcome> {
  try {
    return await recordStep(open, request, call, run);
  } catch (error) {
    if (!(error instanceof AgentTxError) || error.code !== "PAYLOAD_TOO_LARGE") throw error;
    return failStep(open, failureOf(open, request, { error }, call.resolved));
  }
}

async function undoStopped(open: OpenTransaction, control: StopControl): Promise<never> {
  const step = open.nextStep;
  if (hasEffects(open.header)) {
    const pending = { ...NOTHING_PENDING, kind: "resume", step, target: step } as const;
    const at = open.engine.clock.now();
    await beginRollback(open, pending, { audit: [{ k: "stopped", at, s: step, why: "signal" }] });
  }
  throw stoppedBySignal(step, control.reason);
}

function failureOf(
  open: OpenTransaction,
  request: StepRequest,
  cause: FailureCause,
  resolved: ResolvedArguments,
): StepFailure {
  const digest = stepDigest(request);
  const { requestId } = request;
  return {
    step: open.nextStep,
    tool: request.tool,
    hint: hintOf(cause),
    inputs: resolved.inputs,
    references: resolved.references,
    argsText: request.argsText,
    reported: false,
    request: requestId === null ? null : { id: requestId, digest },
    digest,
  };
}

/** False for the next step without a request id: nothing like it was answered before. */
function mayBeRepeated(open: OpenTransaction, request: StepRequest): boolean {
  if (request.requestId !== null) return true;
  if (request.stepId === null) return false;
  const isNext = request.stepId === open.nextStep && open.ended === null;
  return !(isNext && open.header.status === "ACTIVE");
}

/** The stored answer of an equal request, or of the last answered step (P1). */
async function repeatedAnswer(
  open: OpenTransaction,
  request: StepRequest,
): Promise<StepOutcome | null> {
  if (request.requestId !== null) {
    return repeatedStep(open, request.requestId, stepDigest(request), request.stepId);
  }
  return (await lastSuccess(open, request)) ?? (await lastFailure(open, request));
}

async function lastSuccess(
  open: OpenTransaction,
  request: StepRequest,
): Promise<StepOutcome | null> {
  const step = open.nextStep - 1;
  if (request.stepId !== step || open.ended !== null) return null;
  const record = await open.graph.record(step);
  if (record === null || requestDigest("step", record.t, record.a) !== stepDigest(request)) {
    return null;
  }
  return {
    status: "SUCCESS",
    step,
    output: record.o,
    nextStep: open.nextStep,
    constraints: open.header.constraints,
    repeated: true,
  };
}

async function lastFailure(
  open: OpenTransaction,
  request: StepRequest,
): Promise<StepOutcome | null> {
  const stored = await readAnswer(open, LAST_FAILURE);
  if (stored?.answer.kind !== "outcome" || stored.answer.step !== request.stepId) return null;
  // A later execution raised the attempt: then this failure is not the last answer any more.
  if (open.ended === null && stored.answer.attempt !== open.attempt) return null;
  if (stored.digest !== stepDigest(request)) return null;
  return { ...stored.answer.outcome, repeated: true };
}

function requireRoom(step: number): void {
  if (step <= limits.STEPS_PER_TRANSACTION_MAX) return;
  throw new AgentTxError(
    "PAYLOAD_TOO_LARGE",
    `A transaction has at most ${limits.STEPS_PER_TRANSACTION_MAX} steps; nothing was run. Commit this one.`,
    { details: { stepsMax: limits.STEPS_PER_TRANSACTION_MAX } },
  );
}

function listen(signal: AbortSignal | null, control: StopControl): (() => void) | null {
  if (signal === null) return null;
  const stop = (): void => control.stop(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return () => signal.removeEventListener("abort", stop);
}

/** What a stopped step had done is undone before the error is thrown. */
function isStopped(error: unknown): boolean {
  return isAgentTxError(error) && error.code === "ABORTED_BY_SIGNAL";
}

/** After an infrastructure error the step counts as not run; its effects are undone first (R9). */
function noteBrokenStep(open: OpenTransaction, step: number): void {
  if (open.ended !== null || open.header.status !== "ACTIVE") return;
  open.header = {
    ...open.header,
    infrastructureFailures: open.header.infrastructureFailures + 1,
  };
  if (hasEffects(open.header)) open.undoFrom = step;
}
