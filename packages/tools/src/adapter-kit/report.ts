// Owns what a run of the suite answers, as data.

/** Grows when a claim is added or changed: older reports do not certify any more. */
export const SUITE_VERSION = 1;

export interface ClaimResult {
  readonly title: string;
  /** `skipped`: the tool or its world does not have what the claim is about. */
  readonly status: "passed" | "failed" | "skipped";
  /** What was found, for a failed claim; why, for a skipped one. */
  readonly problem: string | null;
}

/** JSON as it is: keep it in a file, and certify the tool with it where it is registered. */
export interface ConformanceReport {
  readonly suite: number;
  readonly tool: string;
  readonly version: string;
  readonly claims: readonly ClaimResult[];
  /** True when all claims were run and none failed. */
  readonly passed: boolean;
}
