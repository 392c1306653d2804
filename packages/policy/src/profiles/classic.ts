// Owns the profile `classic`: exactly R1-R9, nothing cleverer. Another profile is another file.
//   I1 Every failure either pays at least one step of a finite budget or escalates (R4, R6).
//   I2 Escalations are capped by maxGlobalResets, so I1 ends every loop (R7).
import type {
  DependencyPathEdge,
  RollbackCandidate,
  RollbackCounters,
  RollbackDecision,
  RollbackReason,
} from "@agenttx/model";
import { beginEpoch, countFailure, jumpsTo, payReplay } from "../counters.js";
import type { DecideResult } from "../decide.js";
import { replayBudget } from "../replay-budget.js";
import type { PolicyInput } from "../resolve-policy.js";

/** What the graph said about the key: a root before the failed step. */
export interface Cause {
  readonly key: string;
  readonly root: number;
  readonly path: readonly DependencyPathEdge[];
}

export interface Failure {
  readonly policy: PolicyInput;
  readonly counters: RollbackCounters;
  readonly step: number;
  /** The last step that ran; `step` unless the failure was found later (R9a). */
  readonly lastStep: number;
  /** The first key the hint blames, also when it does not trace. */
  readonly key: string | null;
  readonly cause: Cause | null;
}

/** A failure after R1: counted, with its budget, and what was refused so far. */
interface Case extends Failure {
  readonly failureNumber: number;
  readonly budget: number;
  readonly considered: RollbackCandidate[];
}

type Rewind = Pick<RollbackCandidate, "target" | "replayCost"> & {
  readonly strategy: "DEPENDENCY_JUMP" | "LOCAL_BACKTRACK";
};

/** R1-R6 in their order. */
export function decideClassic(failure: Failure): DecideResult {
  const counted = countFailure(failure.counters, failure.step, failure.lastStep);
  const budget = replayBudget(failure.policy, counted.counters.furthestStep);
  const open: Case = { ...failure, ...counted, budget, considered: [] };
  const rewind = chooseJump(open) ?? chooseBacktrack(open);
  if (rewind === null) return escalate(open);
  const left = budget - open.counters.replayed;
  // R4: over budget means escalate; the other candidate is not tried. Written as a sum because
  // `left` may be rounded when the budget is a fraction.
  if (open.counters.replayed + rewind.replayCost > budget) {
    refuse(open, rewind, `over budget: costs ${rewind.replayCost}, ${left} left`);
    return escalate(open);
  }
  return pay(open, rewind);
}

/** R2: to the root of the key, a limited number of times per root and epoch. */
function chooseJump(open: Case): Rewind | null {
  if (open.cause === null) return null;
  const { root } = open.cause;
  const jump = rewindTo(open, "DEPENDENCY_JUMP", root);
  const jumpsMax = Math.max(open.policy.maxLocalDepth, 1);
  if (jumpsTo(open.counters, root) < jumpsMax) return jump;
  return refuse(open, jump, `jumps used up: ${jumpsMax} of ${jumpsMax} to step ${root}`);
}

/** R3: d steps back on the d-th failure, never before step 1. */
function chooseBacktrack(open: Case): Rewind | null {
  const { failureNumber, step } = open;
  const { maxLocalDepth } = open.policy;
  const backtrack = rewindTo(open, "LOCAL_BACKTRACK", Math.max(step - failureNumber, 1));
  if (failureNumber <= maxLocalDepth) return backtrack;
  const why = `failure ${failureNumber} of the step, at most ${maxLocalDepth} backtrack`;
  return refuse(open, backtrack, why);
}

/** R4: the steps from the target to the last one that ran will run again. */
function rewindTo(open: Case, strategy: Rewind["strategy"], target: number): Rewind {
  return { strategy, target, replayCost: open.lastStep - target + 1 };
}

function pay(open: Case, rewind: Rewind): DecideResult {
  const { strategy, target, replayCost } = rewind;
  const isJump = strategy === "DEPENDENCY_JUMP";
  const counters = payReplay(open.counters, replayCost, isJump ? target : null);
  const reason = reasonOf(open, isJump ? "R2" : "R3", rewind, counters);
  return {
    counters,
    decision: {
      strategy,
      rollbackToStep: target,
      nextStep: target,
      contextReset: false,
      replayCost,
      reason,
    },
  };
}

/** R6: a reset while any is left, else the end. */
function escalate(open: Case): DecideResult {
  const { maxGlobalResets } = open.policy;
  const hasReset = open.counters.resets < maxGlobalResets;
  const counters = hasReset ? beginEpoch(open.counters) : open.counters;
  const reset = { strategy: "GLOBAL_RESET", target: 0, replayCost: 0 } as const;
  if (!hasReset) refuse(open, reset, `resets used up: ${maxGlobalResets} of ${maxGlobalResets}`);
  const taken = hasReset ? reset : ({ strategy: "ABORT", target: 0, replayCost: 0 } as const);
  const decision: RollbackDecision = {
    strategy: taken.strategy,
    rollbackToStep: 0,
    nextStep: hasReset ? 1 : 0,
    contextReset: hasReset,
    replayCost: 0,
    reason: reasonOf(open, "R6", taken, counters),
  };
  return { decision, counters };
}

function refuse(open: Case, candidate: Omit<RollbackCandidate, "refused">, refused: string): null {
  open.considered.push({ ...candidate, refused });
  return null;
}

function reasonOf(
  open: Case,
  rule: RollbackReason["rule"],
  taken: Omit<RollbackCandidate, "refused">,
  after: RollbackCounters,
): RollbackReason {
  return {
    rule,
    key: open.cause?.key ?? open.key,
    producer: open.cause?.root ?? null,
    path: open.cause?.path ?? [],
    failureNumber: open.failureNumber,
    replayCost: taken.replayCost,
    budget: open.budget,
    budgetLeft: open.budget - after.replayed,
    considered: [...open.considered, { ...taken, refused: null }],
  };
}
