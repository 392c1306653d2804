// Owns step outcomes between model and messages. Lossless: what the embedded engine answers is what
// a client of ours gets back. Old clients read fields 1..12 alone.

import type { CleanHint, HintCategory, JsonValue, StepOutcome } from "@agenttx/model";
import { StepStatus } from "./gen/agenttx/v1/rollback.js";
import {
  type ExecuteStepResponse,
  ExecuteStepResponse as Message,
} from "./gen/agenttx/v1/steps.js";
import {
  compensationErrorFromWire,
  compensationErrorToWire,
  constraintFromWire,
  constraintToWire,
  decisionFromWire,
  reasonToWire,
  strategyToWire,
} from "./rollback-codec.js";

const EMPTY: ExecuteStepResponse = Message.decode(new Uint8Array());

export function outcomeToWire(outcome: StepOutcome): ExecuteStepResponse {
  const message: ExecuteStepResponse = {
    ...EMPTY,
    stepId: outcome.step,
    nextStepId: outcome.nextStep,
    constraints: outcome.constraints.map((constraint) => constraint.text),
    constraintEntries: outcome.constraints.map(constraintToWire),
    repeatedAnswer: outcome.repeated,
  };
  if (outcome.status === "SUCCESS") {
    message.status = StepStatus.STEP_STATUS_SUCCESS;
    message.strategy = strategyToWire(null);
    message.outputJson = JSON.stringify(outcome.output);
    message.transactionStatus = "ACTIVE";
    return message;
  }
  hintToWire(outcome.hint, message);
  message.strategy = strategyToWire(outcome.strategy);
  if (outcome.decision !== null) {
    message.reason = reasonToWire(outcome.decision.reason);
    message.rollbackToStep = outcome.decision.rollbackToStep;
    message.contextReset = outcome.decision.contextReset;
  }
  message.compensationErrors = outcome.compensationErrors.map((error) => error.message);
  message.compensationFailures = outcome.compensationErrors.map(compensationErrorToWire);
  message.compensationsRun = outcome.compensationsRun;
  message.rollbackLatencyMs = outcome.rollbackLatencyMs;
  if (outcome.status === "ROLLBACK_TRIGGERED") {
    message.status = StepStatus.STEP_STATUS_ROLLBACK_TRIGGERED;
    message.rollbackToStep = outcome.rollbackToStep;
    message.contextReset = outcome.contextReset;
    message.writesReverted = BigInt(outcome.writesReverted);
    message.transactionStatus = "ACTIVE";
    return message;
  }
  message.status = StepStatus.STEP_STATUS_FAILED;
  message.abortReason = outcome.abortReason;
  message.transactionStatus = outcome.transactionStatus;
  message.unresolvedEffects = [...outcome.unresolvedEffects];
  return message;
}

/** Throws SyntaxError when the output is not JSON, TypeError when the answer has no status. */
export function outcomeFromWire(message: ExecuteStepResponse): StepOutcome {
  const constraints = message.constraintEntries.map(constraintFromWire);
  const step = message.stepId;
  const repeated = message.repeatedAnswer;
  if (message.status === StepStatus.STEP_STATUS_SUCCESS) {
    const output = JSON.parse(message.outputJson) as JsonValue;
    return { status: "SUCCESS", step, output, nextStep: message.nextStepId, constraints, repeated };
  }
  const undone = {
    step,
    constraints,
    repeated,
    compensationsRun: message.compensationsRun,
    compensationErrors: message.compensationFailures.map(compensationErrorFromWire),
    rollbackLatencyMs: message.rollbackLatencyMs,
  };
  const decision = decisionFromWire(message);
  const hint = hintFromWire(message);
  if (message.status === StepStatus.STEP_STATUS_ROLLBACK_TRIGGERED) {
    if (decision === null || decision.strategy === "ABORT" || hint === null) {
      throw new TypeError("a rollback answer without a decision");
    }
    return {
      ...undone,
      status: "ROLLBACK_TRIGGERED",
      hint,
      strategy: decision.strategy,
      rollbackToStep: message.rollbackToStep,
      nextStep: message.nextStepId,
      contextReset: message.contextReset,
      decision,
      writesReverted: Number(message.writesReverted),
    };
  }
  if (message.status !== StepStatus.STEP_STATUS_FAILED) throw new TypeError("no step status");
  return {
    ...undone,
    status: "FAILED",
    hint,
    strategy: decision?.strategy === "ABORT" ? "ABORT" : null,
    nextStep: 0,
    abortReason: message.abortReason,
    transactionStatus: message.transactionStatus === "FROZEN" ? "FROZEN" : "FAILED",
    unresolvedEffects: message.unresolvedEffects,
    decision,
  };
}

function hintToWire(hint: CleanHint | null, message: ExecuteStepResponse): void {
  if (hint === null) return;
  message.cleanHint = hint.text;
  message.errorCategory = hint.category;
  message.hintKey = hint.key ?? "";
  message.hintKeys = [...hint.keys];
  message.hintRule = hint.rule;
  message.hintRetryable = hint.retryable;
  message.hintRetryAfterMs = hint.retryAfterMs ?? undefined;
  message.hintDetail = hint.detail ?? "";
}

function hintFromWire(message: ExecuteStepResponse): CleanHint | null {
  if (message.cleanHint === "") return null;
  return {
    text: message.cleanHint,
    category: message.errorCategory as HintCategory,
    key: message.hintKey === "" ? null : message.hintKey,
    keys: message.hintKeys,
    rule: message.hintRule,
    retryable: message.hintRetryable,
    retryAfterMs: message.hintRetryAfterMs ?? null,
    detail: message.hintDetail === "" ? null : message.hintDetail,
  };
}
