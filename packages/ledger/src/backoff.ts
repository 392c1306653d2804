// Owns the waiting time between tries: exponential with jitter and a cap. Pure: the random number
// is an argument.

export interface BackoffLimits {
  /** Milliseconds before the second try, without jitter. */
  readonly baseMs: number;
  /** Milliseconds that no wait exceeds. */
  readonly capMs: number;
}

/**
 * Milliseconds to wait after `failedTries` (>= 1). `random` in [0, 1) spreads the upper half, so
 * the result lies in [half, full] of `base * 2^(failedTries - 1)`, never above the cap.
 */
export function backoffMs(failedTries: number, random: number, limits: BackoffLimits): number {
  const doublings = Math.min(Math.max(Math.trunc(failedTries) - 1, 0), 52);
  const full = Math.min(limits.baseMs * 2 ** doublings, limits.capMs);
  const spread = Math.min(Math.max(random, 0), 1);
  return Math.ceil(full / 2 + (full / 2) * spread);
}
