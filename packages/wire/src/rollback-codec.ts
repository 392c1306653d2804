// Owns decisions and policies between model and messages.

import type {
  CompensationError,
  Constraint,
  RollbackDecision,
  RollbackPolicy,
  RollbackReason,
  RollbackStrategy,
} from "@agenttx/model";
import {
  type DecisionReason,
  RollbackStrategy as Wire,
  type RollbackPolicy as WirePolicy,
} from "./gen/agenttx/v1/rollback.js";
import type { CompensationFailure, Constraint as WireConstraint } from "./gen/agenttx/v1/steps.js";

const TO_WIRE = {
  DEPENDENCY_JUMP: Wire.ROLLBACK_STRATEGY_DEPENDENCY_JUMP,
  LOCAL_BACKTRACK: Wire.ROLLBACK_STRATEGY_LOCAL_BACKTRACK,
  GLOBAL_RESET: Wire.ROLLBACK_STRATEGY_GLOBAL_RESET,
  ABORT: Wire.ROLLBACK_STRATEGY_ABORT,
} satisfies Record<RollbackStrategy, Wire>;

const FROM_WIRE = new Map<Wire, RollbackStrategy>(
  Object.entries(TO_WIRE).map(([name, value]) => [value, name as RollbackStrategy]),
);

export function strategyToWire(strategy: RollbackStrategy | null): Wire {
  return strategy === null ? Wire.ROLLBACK_STRATEGY_NONE : TO_WIRE[strategy];
}

/** null for NONE, MANUAL and values of newer servers. */
export function strategyFromWire(value: Wire): RollbackStrategy | null {
  return FROM_WIRE.get(value) ?? null;
}

export function reasonToWire(reason: RollbackReason): DecisionReason {
  return {
    rule: reason.rule,
    key: reason.key ?? "",
    producer: reason.producer ?? 0,
    failureNumber: reason.failureNumber,
    replayCost: reason.replayCost,
    budget: reason.budget,
    budgetLeft: reason.budgetLeft,
    path: reason.path.map((edge) => ({
      fromStep: edge.from,
      outputPath: edge.outputPath,
      toStep: edge.to,
      inputPath: edge.inputPath,
      explicit: edge.explicit,
    })),
    considered: reason.considered.map((candidate) => ({
      strategy: strategyToWire(candidate.strategy),
      target: candidate.target,
      replayCost: candidate.replayCost,
      refused: candidate.refused ?? "",
    })),
  };
}

function reasonFromWire(reason: DecisionReason): RollbackReason {
  return {
    rule: reason.rule === "R2" || reason.rule === "R3" ? reason.rule : "R6",
    key: reason.key === "" ? null : reason.key,
    producer: reason.producer === 0 ? null : reason.producer,
    failureNumber: reason.failureNumber,
    replayCost: reason.replayCost,
    budget: reason.budget,
    budgetLeft: reason.budgetLeft,
    path: reason.path.map((edge) => ({
      from: edge.fromStep,
      outputPath: edge.outputPath,
      to: edge.toStep,
      inputPath: edge.inputPath,
      explicit: edge.explicit,
    })),
    considered: reason.considered.map((candidate) => ({
      strategy: strategyFromWire(candidate.strategy) ?? "ABORT",
      target: candidate.target,
      replayCost: candidate.replayCost,
      refused: candidate.refused === "" ? null : candidate.refused,
    })),
  };
}

/** The decision an answer tells of; null when it carries none. */
export function decisionFromWire(message: {
  readonly strategy: Wire;
  readonly rollbackToStep: number;
  readonly nextStepId: number;
  readonly contextReset: boolean;
  readonly reason: DecisionReason | undefined;
}): RollbackDecision | null {
  const strategy = strategyFromWire(message.strategy);
  if (strategy === null || message.reason === undefined) return null;
  return {
    strategy,
    rollbackToStep: message.rollbackToStep,
    nextStep: message.nextStepId,
    contextReset: message.contextReset,
    replayCost: message.reason.replayCost,
    reason: reasonFromWire(message.reason),
  };
}

export function constraintToWire(constraint: Constraint): WireConstraint {
  return { ...constraint, key: constraint.key ?? "" };
}

export function constraintFromWire(message: WireConstraint): Constraint {
  const { category, key, rule, text } = message;
  return { category, key: key === "" ? null : key, rule, text };
}

export function compensationErrorToWire(error: CompensationError): CompensationFailure {
  return {
    effectId: error.effectId,
    stepId: error.step,
    toolName: error.tool,
    message: error.message,
  };
}

export function compensationErrorFromWire(message: CompensationFailure): CompensationError {
  return {
    effectId: message.effectId,
    step: message.stepId,
    tool: message.toolName,
    message: message.message,
  };
}

/** Unset fields stay unset: they keep the server's defaults (R8). */
export function policyFromWire(policy: WirePolicy | undefined): Partial<RollbackPolicy> {
  if (policy === undefined) return {};
  const { maxLocalDepth, maxGlobalResets, replayBudgetFactor } = policy;
  return {
    ...(maxLocalDepth === undefined ? {} : { maxLocalDepth }),
    ...(maxGlobalResets === undefined ? {} : { maxGlobalResets }),
    ...(replayBudgetFactor === undefined ? {} : { replayBudgetFactor }),
  };
}

export function policyToWire(policy: Partial<RollbackPolicy>): WirePolicy {
  return {
    maxLocalDepth: policy.maxLocalDepth,
    maxGlobalResets: policy.maxGlobalResets,
    replayBudgetFactor: policy.replayBudgetFactor,
  };
}
