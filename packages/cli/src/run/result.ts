// Owns the result of a run: the last line of `agenttx run --json`, and the figures of the summary.

import type { CommitOutcome, RollbackOutcome, StepOutcome } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { OutcomeLine } from "./events.js";

export type RunStatus = "COMMITTED" | "ROLLED_BACK" | "FAILED" | "FROZEN" | "CONFLICT" | "OPEN";

export interface StepFigure {
  readonly step: number;
  readonly tool: string;
  readonly status: StepOutcome["status"];
  readonly durationMs: number;
}

export interface RollbackFigure {
  readonly step: number;
  readonly tool: string;
  readonly hint: string | null;
  readonly key: string | null;
  readonly strategy: string | null;
  readonly rollbackToStep: number | null;
  readonly replayCost: number;
  readonly budgetLeft: number;
  readonly writesReverted: number;
  readonly compensationsRun: number;
  readonly latencyMs: number;
}

/** What recovery found and did. */
export interface RecoverySummary {
  readonly found: number;
  readonly resumed: number;
  readonly rolledBack: number;
  readonly frozen: readonly string[];
  readonly unresolvedEffects: readonly string[];
  readonly problems: readonly { readonly transaction: string; readonly message: string }[];
  readonly compensationsRun: number;
  readonly durationMs: number;
}

export interface RunResult {
  readonly apiVersion: typeof API_VERSION;
  readonly type: "result";
  readonly plan: string;
  readonly transaction: string;
  readonly status: RunStatus;
  readonly exitCode: number;
  /** Why it did not commit, or null. */
  readonly reason: string | null;
  readonly stepsCommitted: number;
  /** Executions, replays included. */
  readonly stepsRun: number;
  readonly steps: readonly StepFigure[];
  readonly rollbacks: readonly RollbackFigure[];
  readonly compensationsRun: number;
  readonly effectsDelivered: number;
  readonly effectsPending: number;
  /** Ids of effects that could not be undone. */
  readonly unresolvedEffects: readonly string[];
  readonly durationMs: number;
}

/** Collects what happens in one run. */
export class RunRecorder {
  readonly #plan: string;
  readonly #transaction: string;
  readonly #beganAt: number;
  readonly #steps: StepFigure[] = [];
  readonly #rollbacks: RollbackFigure[] = [];
  #status: RunStatus = "FAILED";
  #reason: string | null = null;
  #stepsCommitted = 0;
  #compensationsRun = 0;
  #delivered = 0;
  #pending = 0;
  #interrupted = false;
  #unresolved: readonly string[] = [];

  constructor(plan: string, transaction: string, beganAt: number) {
    this.#plan = plan;
    this.#transaction = transaction;
    this.#beganAt = beganAt;
  }

  step(line: OutcomeLine, outcome: StepOutcome): void {
    const { step, tool, status, durationMs } = line;
    this.#steps.push({ step, tool, status, durationMs });
    if (outcome.status === "SUCCESS") return;
    this.#compensationsRun += outcome.compensationsRun;
    this.#rollbacks.push({
      step,
      tool,
      hint: line.hint,
      key: line.key,
      strategy: line.strategy,
      rollbackToStep: line.rollbackToStep,
      replayCost: line.replayCost,
      budgetLeft: line.budgetLeft,
      writesReverted: line.writesReverted,
      compensationsRun: outcome.compensationsRun,
      latencyMs: line.rollbackLatencyMs,
    });
    if (outcome.status !== "FAILED") return;
    this.#status = outcome.transactionStatus;
    this.#reason = outcome.abortReason;
    this.#unresolved = outcome.unresolvedEffects;
  }

  committed(outcome: CommitOutcome): void {
    this.#status = "COMMITTED";
    this.#stepsCommitted = outcome.stepsCommitted;
    this.#delivered = outcome.effectsDispatched;
    this.#pending = outcome.effectsPending;
  }

  /** `reason` "interrupted" makes the exit code that of the signal. */
  rolledBack(outcome: RollbackOutcome, reason: "interrupted" | null): void {
    this.#status = outcome.status === "FROZEN" ? "FROZEN" : "ROLLED_BACK";
    this.#reason = reason;
    this.#interrupted = reason === "interrupted";
    this.#compensationsRun += outcome.compensationsRun;
    this.#unresolved = outcome.unresolvedEffects;
  }

  conflict(reason: string): void {
    this.#status = "CONFLICT";
    this.#reason = reason;
  }

  leftOpen(interrupted: boolean, now: number): RunResult {
    this.#status = "OPEN";
    this.#interrupted = interrupted;
    return this.finish(now);
  }

  finish(now: number): RunResult {
    return {
      apiVersion: API_VERSION,
      type: "result",
      plan: this.#plan,
      transaction: this.#transaction,
      status: this.#status,
      exitCode: this.#exitCode(),
      reason: this.#reason,
      stepsCommitted: this.#stepsCommitted,
      stepsRun: this.#steps.length,
      steps: this.#steps,
      rollbacks: this.#rollbacks,
      compensationsRun: this.#compensationsRun,
      effectsDelivered: this.#delivered,
      effectsPending: this.#pending,
      unresolvedEffects: this.#unresolved,
      durationMs: now - this.#beganAt,
    };
  }

  #exitCode(): number {
    if (this.#interrupted) return EXIT.INTERRUPTED;
    if (this.#status === "COMMITTED" || this.#status === "OPEN") return EXIT.OK;
    if (this.#status === "FROZEN" || this.#unresolved.length > 0) return EXIT.UNRESOLVED;
    return this.#status === "CONFLICT" ? EXIT.CONFLICT : EXIT.FAILED;
  }
}
