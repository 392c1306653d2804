// Owns the answers that a completed or frozen rollback gives, made from its durable description.
import type {
  CompensationError,
  Constraint,
  RollbackOutcome,
  StepFailed,
  StepOutcome,
} from "@agenttx/model";
import type { PendingRollback } from "./header.js";

/** What became of a rollback. */
export interface RollbackResult {
  readonly kind: "rewound" | "frozen" | "ended";
  readonly writesReverted: number;
  readonly compensationsRun: number;
  readonly errors: readonly CompensationError[];
  readonly unresolved: readonly string[];
  readonly latencyMs: number;
}

export const RECONCILIATION_REQUIRED = "RECONCILIATION_REQUIRED";

/** The answer to a step that failed. */
export function stepOutcome(
  pending: PendingRollback,
  result: RollbackResult,
  constraints: readonly Constraint[],
): StepOutcome {
  const { hint, decision } = pending;
  if (result.kind !== "rewound" || hint === null || decision === null) {
    return failedOutcome(pending, result, constraints);
  }
  if (decision.strategy === "ABORT") return failedOutcome(pending, result, constraints);
  return {
    status: "ROLLBACK_TRIGGERED",
    step: pending.step,
    hint,
    strategy: decision.strategy,
    rollbackToStep: decision.rollbackToStep,
    nextStep: decision.nextStep,
    contextReset: decision.contextReset,
    constraints,
    decision,
    writesReverted: result.writesReverted,
    compensationsRun: result.compensationsRun,
    compensationErrors: result.errors,
    rollbackLatencyMs: result.latencyMs,
    repeated: false,
  };
}

function failedOutcome(
  pending: PendingRollback,
  result: RollbackResult,
  constraints: readonly Constraint[],
): StepFailed {
  const frozen = result.kind === "frozen";
  return {
    status: "FAILED",
    step: pending.step,
    hint: pending.hint,
    strategy: pending.decision?.strategy === "ABORT" ? "ABORT" : null,
    nextStep: 0,
    abortReason: frozen ? RECONCILIATION_REQUIRED : (pending.reason ?? "ABORTED"),
    transactionStatus: frozen ? "FROZEN" : "FAILED",
    unresolvedEffects: result.unresolved,
    constraints,
    decision: pending.decision,
    compensationsRun: result.compensationsRun,
    compensationErrors: result.errors,
    rollbackLatencyMs: result.latencyMs,
    repeated: false,
  };
}

/** The answer to a rollback or abort that was asked for. */
export function rollbackOutcome(pending: PendingRollback, result: RollbackResult): RollbackOutcome {
  const settled = result.unresolved.length === 0;
  return {
    rolledBack: settled && result.kind !== "frozen",
    status:
      result.kind === "frozen" ? "FROZEN" : result.kind === "ended" ? pending.endStatus : "ACTIVE",
    nextStep: result.kind === "rewound" ? Math.max(pending.target, 1) : 0,
    writesReverted: result.writesReverted,
    compensationsRun: result.compensationsRun,
    compensationErrors: result.errors,
    unresolvedEffects: result.unresolved,
  };
}
