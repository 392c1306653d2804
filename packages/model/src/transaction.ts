// Owns the words a transaction is described with, from outside.

import type { CleanHint } from "./hint.js";
import type { JsonValue } from "./json.js";
import type { RollbackDecision, RollbackStrategy } from "./policy.js";

/** 1-based, no gaps; 0 means the initial state. */
export type StepNumber = number;

export type TransactionStatus =
  | "ACTIVE"
  | "EXECUTING"
  | "ROLLING_BACK"
  | "FROZEN"
  | "COMMITTING"
  | "COMMITTED"
  | "ROLLED_BACK"
  | "FAILED";

/** What a failure taught, kept across rewinds and resets; never raw text (E10). */
export interface Constraint {
  readonly category: string;
  readonly key: string | null;
  readonly rule: string;
  /** The hint's text, made from the three fields above. */
  readonly text: string;
}

/** Raw context of one successful step, as the caller gave it (E10). */
export interface ContextEntry {
  readonly step: StepNumber;
  readonly tool: string;
  readonly rawContext: string;
}

/** One undo that did not reach `compensated`, as told to callers. */
export interface CompensationError {
  readonly effectId: string;
  readonly step: StepNumber;
  readonly tool: string;
  readonly message: string;
}

/** A step that worked; its result is durable before the caller sees it. */
export interface StepSucceeded<Output = JsonValue> {
  readonly status: "SUCCESS";
  readonly step: StepNumber;
  readonly output: Output;
  readonly nextStep: StepNumber;
  readonly constraints: readonly Constraint[];
  /** True when this is the stored answer of an earlier, equal request (P1). */
  readonly repeated: boolean;
}

/** A step that failed and led to a rewind; the transaction goes on at `nextStep`. */
export interface StepRolledBack {
  readonly status: "ROLLBACK_TRIGGERED";
  readonly step: StepNumber;
  readonly hint: CleanHint;
  readonly strategy: Exclude<RollbackStrategy, "ABORT">;
  readonly rollbackToStep: StepNumber;
  readonly nextStep: StepNumber;
  readonly contextReset: boolean;
  readonly constraints: readonly Constraint[];
  readonly decision: RollbackDecision;
  readonly writesReverted: number;
  readonly compensationsRun: number;
  readonly compensationErrors: readonly CompensationError[];
  readonly rollbackLatencyMs: number;
  readonly repeated: boolean;
}

/** A step that ended or froze the transaction; `nextStep` is 0. */
export interface StepFailed {
  readonly status: "FAILED";
  readonly step: StepNumber;
  readonly hint: CleanHint | null;
  readonly strategy: "ABORT" | null;
  readonly nextStep: 0;
  /** `RECONCILIATION_REQUIRED` when frozen, else why it was aborted. */
  readonly abortReason: string;
  /** `FROZEN` while effects are unresolved, `FAILED` when ended. */
  readonly transactionStatus: "FROZEN" | "FAILED";
  readonly unresolvedEffects: readonly string[];
  readonly constraints: readonly Constraint[];
  readonly decision: RollbackDecision | null;
  readonly compensationsRun: number;
  readonly compensationErrors: readonly CompensationError[];
  readonly rollbackLatencyMs: number;
  readonly repeated: boolean;
}

/** A rollback is a value, never an exception (P7). */
export type StepOutcome<Output = JsonValue> = StepSucceeded<Output> | StepRolledBack | StepFailed;

export interface CommitOutcome {
  readonly status: "COMMITTED";
  readonly commitVersion: bigint;
  readonly stepsCommitted: number;
  readonly effectsDispatched: number;
  /** Staged effects still undelivered after the first bounded pass; they go on in the background. */
  readonly effectsPending: number;
  readonly dispatchErrors: readonly string[];
}

export interface RollbackOutcome {
  /** False while anything is unresolved: nobody is told of a rollback that was not. */
  readonly rolledBack: boolean;
  readonly status: TransactionStatus;
  /** 0 when the transaction ended or is frozen. */
  readonly nextStep: StepNumber;
  readonly writesReverted: number;
  readonly compensationsRun: number;
  readonly compensationErrors: readonly CompensationError[];
  readonly unresolvedEffects: readonly string[];
}

/** What `get` and `list` show of a transaction, open or ended. */
export interface TransactionView {
  readonly id: string;
  readonly agentId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: TransactionStatus;
  readonly nextStep: StepNumber;
  readonly stepsCommitted: number;
  readonly globalResets: number;
  readonly constraints: readonly Constraint[];
  readonly context: readonly ContextEntry[];
  readonly unresolvedEffects: readonly string[];
  readonly abortReason: string | null;
  readonly beganAtMs: number;
  readonly updatedAtMs: number;
}
