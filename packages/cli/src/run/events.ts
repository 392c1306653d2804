// Owns the lines of `agenttx run --json`: what the engine tells, what the agent decided, and how a
// step ended, each with the time since the run began. The timeline draws the same lines.

import type { EngineEvent } from "@agenttx/engine";
import type { StepOutcome } from "@agenttx/model";

/** An event of the engine, as its observer gets it. */
export interface EngineLine extends EngineEvent {
  readonly type: "event";
  readonly elapsedMs: number;
}

/** The agent is about to call a tool. */
export interface AgentLine {
  readonly type: "agent";
  readonly elapsedMs: number;
  readonly step: number;
  readonly tool: string;
  readonly say: string;
  /** 0 = the plan's first idea, else the number of the alternative. */
  readonly alternative: number;
}

/** How a step ended, as the agent is told; without the tool's output. */
export interface OutcomeLine {
  readonly type: "outcome";
  readonly elapsedMs: number;
  readonly durationMs: number;
  readonly step: number;
  readonly tool: string;
  readonly status: StepOutcome["status"];
  readonly hint: string | null;
  readonly category: string | null;
  readonly key: string | null;
  readonly strategy: string | null;
  readonly rollbackToStep: number | null;
  readonly nextStep: number;
  readonly replayCost: number;
  readonly budget: number;
  readonly budgetLeft: number;
  readonly producer: number | null;
  readonly rule: string | null;
  readonly contextReset: boolean;
  readonly writesReverted: number;
  readonly compensationsRun: number;
  readonly rollbackLatencyMs: number;
}

/** A tool was asked what became of a call whose outcome nobody knew. */
export interface LookupLine {
  readonly type: "lookup";
  readonly elapsedMs: number;
  readonly durationMs: number;
  readonly step: number;
  readonly tool: string;
  /** `landed`, `absent`, `unknown` or `error`. */
  readonly answer: string;
}

/** A remark of the command itself, such as what recovery found. */
export interface NoticeLine {
  readonly type: "notice";
  readonly elapsedMs: number;
  readonly text: string;
}

export type RunLine = EngineLine | AgentLine | OutcomeLine | LookupLine | NoticeLine;

/** The outcome of a step as a line. */
export function outcomeLine(
  tool: string,
  outcome: StepOutcome,
  times: { readonly elapsedMs: number; readonly durationMs: number },
): OutcomeLine {
  const failed = outcome.status === "SUCCESS" ? null : outcome;
  const reason = failed?.decision?.reason ?? null;
  return {
    type: "outcome",
    ...times,
    step: outcome.step,
    tool,
    status: outcome.status,
    hint: failed?.hint?.text ?? null,
    category: failed?.hint?.category ?? null,
    key: failed?.hint?.key ?? null,
    strategy: failed?.strategy ?? null,
    rollbackToStep: failed?.decision?.rollbackToStep ?? null,
    nextStep: outcome.nextStep,
    replayCost: failed?.decision?.replayCost ?? 0,
    budget: reason?.budget ?? 0,
    budgetLeft: reason?.budgetLeft ?? 0,
    producer: reason?.producer ?? null,
    rule: reason?.rule ?? null,
    contextReset: failed?.decision?.contextReset ?? false,
    writesReverted: outcome.status === "ROLLBACK_TRIGGERED" ? outcome.writesReverted : 0,
    compensationsRun: failed?.compensationsRun ?? 0,
    rollbackLatencyMs: failed?.rollbackLatencyMs ?? 0,
  };
}
