// Owns the replay budget (R5): the most steps that may be run again within one epoch.
import type { RollbackPolicy } from "@agenttx/model";
import { PolicyError } from "./policy-error.js";
import { requireFactor } from "./resolve-policy.js";
import { isCount, STEP_NUMBER_MAX } from "./step-number.js";

/**
 * budget = c * (N * bits), where bits = ceil(log2(N + 1)) is the bit length of N. Exact: no
 * logarithm, no rounding, multiplied in this order. May be a fraction; 0 when N is 0.
 * `furthestStep` is N, a whole number from 0 to 2^31; PolicyError otherwise.
 */
export function replayBudget(
  policy: Pick<RollbackPolicy, "replayBudgetFactor">,
  furthestStep: number,
): number {
  requireFactor(policy.replayBudgetFactor);
  if (!isCount(furthestStep)) {
    throw new PolicyError(
      "furthestStep",
      `furthestStep must be a whole number from 0 to ${STEP_NUMBER_MAX}.`,
    );
  }
  // clz32 works on unsigned 32 bits, so 2^31 is still exact.
  const bits = 32 - Math.clz32(furthestStep);
  return policy.replayBudgetFactor * (furthestStep * bits);
}
