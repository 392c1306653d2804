// Owns the words of rollback decisions (rules R1-R11). Data only; `@agenttx/policy` decides.

/** Settings of the rollback controller. Field by field overridable per transaction (R8). */
export interface RollbackPolicy {
  /** Failures of one step answered by a local backtrack. Whole number, 0..16, default 2. */
  readonly maxLocalDepth: number;
  /** Resets before the next escalation aborts. Whole number, 0..16, default 1. */
  readonly maxGlobalResets: number;
  /** c in `budget = c * N * bits(N)`. Finite, 0.1..1000, default 2. */
  readonly replayBudgetFactor: number;
  /** `classic` is R1-R9. `adaptive` is switched on by name and keeps the bound R7 (R11). */
  readonly profile: "classic" | "adaptive";
}

export type RollbackStrategy = "DEPENDENCY_JUMP" | "LOCAL_BACKTRACK" | "GLOBAL_RESET" | "ABORT";

/**
 * Retry counters of one transaction: plain data, stored with the transaction (G5).
 * INVARIANT: `replayed` never exceeds the budget of `furthestStep` within one epoch.
 */
export interface RollbackCounters {
  /** Failures of each step in this epoch, by step number. */
  readonly failures: Readonly<Record<string, number>>;
  /** Jumps to each root in this epoch, by step number. */
  readonly jumps: Readonly<Record<string, number>>;
  /** Steps spent on replays in this epoch. */
  readonly replayed: number;
  /** Global resets so far; never cleared. */
  readonly resets: number;
  /** Furthest step reached, N in R5; never cleared. */
  readonly furthestStep: number;
}

/** One edge of the walk that led from the failed step to the root. */
export interface DependencyPathEdge {
  readonly from: number;
  readonly outputPath: string;
  readonly to: number;
  readonly inputPath: string;
  readonly explicit: boolean;
}

/** A possible decision with its cost; `refused` says why it was not taken, or null. */
export interface RollbackCandidate {
  readonly strategy: RollbackStrategy;
  readonly target: number;
  readonly replayCost: number;
  readonly refused: string | null;
}

/** Why a decision was made, as data (R10). */
export interface RollbackReason {
  /** The rule that decided: `R2` jump, `R3` backtrack, `R6` reset or abort. */
  readonly rule: "R2" | "R3" | "R6";
  readonly key: string | null;
  readonly producer: number | null;
  readonly path: readonly DependencyPathEdge[];
  /** Which failure of this step in this epoch: d in R1. */
  readonly failureNumber: number;
  readonly replayCost: number;
  readonly budget: number;
  /** Budget left after this decision was paid. */
  readonly budgetLeft: number;
  /** What was looked at, in order. */
  readonly considered: readonly RollbackCandidate[];
}

export interface RollbackDecision {
  readonly strategy: RollbackStrategy;
  /** Rewind to just before this step; 0 = initial state (reset and abort). */
  readonly rollbackToStep: number;
  /** The step number the agent sends next; 0 when the transaction ended (abort). */
  readonly nextStep: number;
  readonly contextReset: boolean;
  readonly replayCost: number;
  readonly reason: RollbackReason;
}
