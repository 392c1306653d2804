// Owns commits, rollbacks and views between model and messages.

import type {
  CommitOutcome,
  RollbackOutcome,
  TransactionStatus,
  TransactionView,
} from "@agenttx/model";
import type {
  CommitTransactionResponse,
  GetTransactionResponse,
  RollbackTransactionResponse,
  TransactionSummary,
} from "./gen/agenttx/v1/transactions.js";
import {
  compensationErrorFromWire,
  compensationErrorToWire,
  constraintFromWire,
  constraintToWire,
} from "./rollback-codec.js";

const STATUSES: ReadonlySet<string> = new Set<TransactionStatus>([
  "ACTIVE",
  "EXECUTING",
  "ROLLING_BACK",
  "FROZEN",
  "COMMITTING",
  "COMMITTED",
  "ROLLED_BACK",
  "FAILED",
]);

/** Throws TypeError for a word this version does not know. */
export function statusFromWire(word: string): TransactionStatus {
  if (!STATUSES.has(word))
    throw new TypeError(`unknown transaction status ${JSON.stringify(word)}`);
  return word as TransactionStatus;
}

export function commitToWire(outcome: CommitOutcome): CommitTransactionResponse {
  return {
    committed: true,
    stepsCommitted: outcome.stepsCommitted,
    effectsDispatched: outcome.effectsDispatched,
    dispatchErrors: [...outcome.dispatchErrors],
    commitVersion: outcome.commitVersion,
    effectsPending: outcome.effectsPending,
  };
}

export function commitFromWire(message: CommitTransactionResponse): CommitOutcome {
  if (!message.committed) throw new TypeError("a commit answer that did not commit");
  return {
    status: "COMMITTED",
    commitVersion: message.commitVersion,
    stepsCommitted: message.stepsCommitted,
    effectsDispatched: message.effectsDispatched,
    effectsPending: message.effectsPending,
    dispatchErrors: message.dispatchErrors,
  };
}

export function rollbackToWire(outcome: RollbackOutcome): RollbackTransactionResponse {
  return {
    rolledBack: outcome.rolledBack,
    nextStepId: outcome.nextStep,
    compensationsRun: outcome.compensationsRun,
    compensationErrors: outcome.compensationErrors.map((error) => error.message),
    transactionStatus: outcome.status,
    unresolvedEffects: [...outcome.unresolvedEffects],
    writesReverted: BigInt(outcome.writesReverted),
    compensationFailures: outcome.compensationErrors.map(compensationErrorToWire),
  };
}

export function rollbackFromWire(message: RollbackTransactionResponse): RollbackOutcome {
  return {
    rolledBack: message.rolledBack,
    status: statusFromWire(message.transactionStatus),
    nextStep: message.nextStepId,
    writesReverted: Number(message.writesReverted),
    compensationsRun: message.compensationsRun,
    compensationErrors: message.compensationFailures.map(compensationErrorFromWire),
    unresolvedEffects: message.unresolvedEffects,
  };
}

/** The page of the context is the caller's choice: `context` and the two fields about it. */
export function viewToWire(
  view: TransactionView,
  page: { readonly truncated: boolean; readonly nextPageToken: string },
): GetTransactionResponse {
  return {
    transactionId: view.id,
    status: view.status,
    nextStepId: view.nextStep,
    constraints: view.constraints.map((constraint) => constraint.text),
    globalResets: view.globalResets,
    context: view.context.map((entry) => ({
      stepId: entry.step,
      toolName: entry.tool,
      rawContext: entry.rawContext,
    })),
    agentId: view.agentId,
    metadata: { ...view.metadata },
    contextTruncated: page.truncated,
    contextNextPageToken: page.nextPageToken,
    unresolvedEffects: [...view.unresolvedEffects],
    abortReason: view.abortReason ?? "",
    stepsCommitted: view.stepsCommitted,
    beganAtMs: BigInt(view.beganAtMs),
    updatedAtMs: BigInt(view.updatedAtMs),
    constraintEntries: view.constraints.map(constraintToWire),
  };
}

export function viewFromWire(message: GetTransactionResponse): TransactionView {
  return {
    id: message.transactionId,
    agentId: message.agentId,
    metadata: message.metadata,
    status: statusFromWire(message.status),
    nextStep: message.nextStepId,
    stepsCommitted: message.stepsCommitted,
    globalResets: message.globalResets,
    constraints: message.constraintEntries.map(constraintFromWire),
    context: message.context.map((entry) => ({
      step: entry.stepId,
      tool: entry.toolName,
      rawContext: entry.rawContext,
    })),
    unresolvedEffects: message.unresolvedEffects,
    abortReason: message.abortReason === "" ? null : message.abortReason,
    beganAtMs: Number(message.beganAtMs),
    updatedAtMs: Number(message.updatedAtMs),
  };
}

export function summaryToWire(view: TransactionView): TransactionSummary {
  return {
    transactionId: view.id,
    agentId: view.agentId,
    status: view.status,
    nextStepId: view.nextStep,
    globalResets: view.globalResets,
    unresolvedEffects: view.unresolvedEffects.length,
    stepsCommitted: view.stepsCommitted,
    beganAtMs: BigInt(view.beganAtMs),
    updatedAtMs: BigInt(view.updatedAtMs),
  };
}
