// Owns the range of step numbers: whole, 1-based, up to 2^31, so that a budget is exact.
import { PolicyError } from "./policy-error.js";

/** Largest step number, and largest N of a replay budget. */
export const STEP_NUMBER_MAX = 2 ** 31;

export function isStepNumber(value: unknown): value is number {
  return isCount(value) && value >= 1;
}

/** Whole number from 0 to 2^31. */
export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= STEP_NUMBER_MAX;
}

/** Throws PolicyError unless `value` is a whole number from 1 to 2^31. */
export function requireStepNumber(field: string, value: unknown): asserts value is number {
  if (isStepNumber(value)) return;
  throw new PolicyError(field, `${field} must be a whole number from 1 to ${STEP_NUMBER_MAX}.`);
}
