// Owns the retry counters (R1, R4, R6): plain data, replaced and never changed in place.
import type { RollbackCounters } from "@agenttx/model";
import { PolicyError } from "./policy-error.js";
import { isCount, requireStepNumber } from "./step-number.js";

/** The counters of a transaction that has run nothing. */
export function initialCounters(): RollbackCounters {
  return { failures: {}, jumps: {}, replayed: 0, resets: 0, furthestStep: 0 };
}

/**
 * Counts a step that ran and worked. N in the budget is the furthest of all steps that ran (R5),
 * so call it for every success. A success does not clear the step's failures (R1).
 */
export function recordSuccess(counters: RollbackCounters, step: number): RollbackCounters {
  requireStepNumber("step", step);
  requireNumbers(counters);
  if (step <= counters.furthestStep) return counters;
  return { ...counters, furthestStep: step };
}

/**
 * R1: counts a failure of `step`, and moves N to `lastStep`. Returns the new counters and d, the
 * number of this failure within the epoch.
 */
export function countFailure(
  counters: RollbackCounters,
  step: number,
  lastStep: number,
): { counters: RollbackCounters; failureNumber: number } {
  requireNumbers(counters);
  const failureNumber = readCount("failures", counters.failures, step) + 1;
  return {
    failureNumber,
    counters: {
      ...counters,
      failures: { ...counters.failures, [step]: failureNumber },
      furthestStep: Math.max(counters.furthestStep, lastStep),
    },
  };
}

/** How often `root` was jumped to in this epoch. */
export function jumpsTo(counters: RollbackCounters, root: number): number {
  return readCount("jumps", counters.jumps, root);
}

/** R4: pays a rollback; a jump is counted for its root. */
export function payReplay(
  counters: RollbackCounters,
  cost: number,
  jumpRoot: number | null,
): RollbackCounters {
  const replayed = counters.replayed + cost;
  if (jumpRoot === null) return { ...counters, replayed };
  const jumps = { ...counters.jumps, [jumpRoot]: jumpsTo(counters, jumpRoot) + 1 };
  return { ...counters, replayed, jumps };
}

/** R6: a reset begins a new epoch. Failures, jumps and replayed are cleared; N is kept. */
export function beginEpoch(counters: RollbackCounters): RollbackCounters {
  return { ...counters, failures: {}, jumps: {}, replayed: 0, resets: counters.resets + 1 };
}

// A NaN or negative counter would make every comparison with a limit false, and R7 with it.
function requireNumbers(counters: RollbackCounters): void {
  for (const field of ["resets", "furthestStep"] as const) {
    if (!isCount(counters[field])) refuse(field);
  }
  if (!Number.isSafeInteger(counters.replayed) || counters.replayed < 0) refuse("replayed");
}

function readCount(
  field: "failures" | "jumps",
  counts: Readonly<Record<string, number>>,
  step: number,
): number {
  const count = Object.hasOwn(counts, step) ? counts[step] : 0;
  return isCount(count) ? count : refuse(field);
}

function refuse(field: string): never {
  throw new PolicyError(field, `counters.${field} is damaged: it must hold whole numbers from 0.`);
}
