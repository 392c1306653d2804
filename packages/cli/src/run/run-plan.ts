// Owns the drive of a plan through one transaction: ask the scripted agent, call the step, hand it
// the hint, until the plan is done or the transaction has ended.
//
//   D1 A rollback is an answer; the loop goes on at the step the engine names.
//   D2 Whatever ends the loop early leaves no open transaction behind, unless `keepOpen` asks so.
//   D3 The engine bounds the number of rollbacks (R7), so the loop has no cap of its own.

import type { CommitOutcome, JsonObject, RollbackOutcome, StepOutcome } from "@agenttx/model";
import { isAgentTxError } from "@agenttx/model";
import type { Plan } from "../plan/schema.js";
import type { LearnedHint } from "../plan/scripted-agent.js";
import { ScriptedAgent } from "../plan/scripted-agent.js";
import type { RunLine } from "./events.js";
import { outcomeLine } from "./events.js";
import { RunRecorder, type RunResult } from "./result.js";

/** What a plan needs of a transaction; a transaction of @agenttx/engine fits. */
export interface PlanTransaction {
  readonly id: string;
  step(tool: string, args: JsonObject, options?: { rawContext?: string }): Promise<StepOutcome>;
  commit(): Promise<CommitOutcome>;
  abort(reason?: string): Promise<RollbackOutcome>;
}

export interface RunPlanOptions {
  readonly plan: Plan;
  readonly transaction: PlanTransaction;
  /** Step to begin with; default 1. Above 1 when an open transaction is resumed. */
  readonly firstStep?: number;
  /** What earlier failures taught, when resumed. */
  readonly hints?: readonly LearnedHint[];
  readonly emit?: (line: RunLine) => void;
  /** Stops the running step and takes everything back; with `keepOpen`, stops after the step. */
  readonly signal?: AbortSignal;
  /** Neither commits at the end nor aborts when stopped: the transaction can be resumed. */
  readonly keepOpen?: boolean;
  /** Monotonic milliseconds; default `performance.now`. */
  readonly now?: () => number;
  /** Where `elapsedMs` of the lines counts from, on the clock of `now`; default: the first step. */
  readonly beganAtMs?: number;
}

/**
 * Runs the plan and tells how it ended. Failed, frozen, conflicting and stopped runs are results;
 * infrastructure errors are thrown after the transaction was aborted as far as that is possible.
 */
export async function runPlan(options: RunPlanOptions): Promise<RunResult> {
  const { plan, transaction, emit = () => {}, now = () => performance.now() } = options;
  const agent = new ScriptedAgent(plan);
  for (const hint of options.hints ?? []) agent.learn(hint);
  const recorder = new RunRecorder(plan.name, transaction.id, now());
  try {
    const stopped = await untilStopped(
      options,
      runSteps({ ...options, agent, recorder, emit, now }),
    );
    if (stopped === "ended") return recorder.finish(now());
    if (options.keepOpen === true) return recorder.leftOpen(stopped === "signal", now());
    if (stopped === "signal") {
      recorder.rolledBack(await transaction.abort("INTERRUPTED"), "interrupted");
      return recorder.finish(now());
    }
    recorder.committed(await transaction.commit());
    return recorder.finish(now());
  } catch (error) {
    return await endAfterError({ error, transaction, recorder, now });
  }
}

type Stop = "done" | "ended" | "signal";

/** The end of the steps, or the signal, whichever comes first; the abort ends a running step. */
async function untilStopped(options: RunPlanOptions, steps: Promise<Stop>): Promise<Stop> {
  const { signal } = options;
  if (signal === undefined || options.keepOpen === true) return steps;
  return new Promise((resolve, reject) => {
    const stop = () => resolve("signal");
    signal.addEventListener("abort", stop, { once: true });
    const release = () => signal.removeEventListener("abort", stop);
    // After a stop the step's own end is of no interest: the abort has waited for it.
    steps.then(resolve, reject).finally(release);
  });
}

async function runSteps(
  options: RunPlanOptions & {
    readonly agent: ScriptedAgent;
    readonly recorder: RunRecorder;
    readonly emit: (line: RunLine) => void;
    readonly now: () => number;
  },
): Promise<"done" | "ended" | "signal"> {
  const { agent, recorder, emit, now, transaction } = options;
  const beganAt = options.beganAtMs ?? now();
  for (let step = options.firstStep ?? 1; ; ) {
    if (options.signal?.aborted === true) return "signal";
    const choice = agent.choose(step);
    if (choice === null) return "done";
    const startedAt = now();
    const { tool, say, alternative } = choice;
    emit({ type: "agent", elapsedMs: startedAt - beganAt, step, tool, say, alternative });
    const outcome = await transaction.step(tool, choice.args, { rawContext: say });
    const endedAt = now();
    const times = { elapsedMs: endedAt - beganAt, durationMs: endedAt - startedAt };
    const line = outcomeLine(tool, outcome, times);
    recorder.step(line, outcome);
    emit(line);
    if (outcome.status === "FAILED") return "ended";
    if (outcome.status === "ROLLBACK_TRIGGERED") agent.learn(outcome.hint);
    step = outcome.nextStep;
  }
}

/** D2: a conflict is a result, anything else is thrown; both only after the abort. */
async function endAfterError(failed: {
  readonly error: unknown;
  readonly transaction: PlanTransaction;
  readonly recorder: RunRecorder;
  readonly now: () => number;
}): Promise<RunResult> {
  const { error, transaction, recorder, now } = failed;
  const conflict = isAgentTxError(error) && error.code === "WRITE_CONFLICT";
  try {
    recorder.rolledBack(await transaction.abort(conflict ? "WRITE_CONFLICT" : "RUN_FAILED"), null);
  } catch (abortError) {
    // A conflict may have ended the transaction already; otherwise recovery will undo it later.
    if (conflict && !(isAgentTxError(abortError) && abortError.code === "TRANSACTION_ENDED")) {
      throw abortError;
    }
  }
  if (!conflict) throw error;
  recorder.conflict(error.message);
  return recorder.finish(now());
}
