// Owns the settings of the effects side: tries, waits, deadlines (E1c, E5, E7, E8).

export interface EffectLimits {
  /** Milliseconds a tool call gets when the tool names no deadline. */
  readonly toolDeadlineMs: number;
  /** Milliseconds one lookup or verification gets. */
  readonly lookupDeadlineMs: number;
  /** Milliseconds between an "absent" that may still change and the lookup that decides (E5). */
  readonly settlingMs: number;
  /** Tries of one undo, lookup or delivery before the caller gets an answer (E1c). */
  readonly inlineTries: number;
  /** Milliseconds after which no further inline try of one undo begins. */
  readonly inlineMs: number;
  /** First wait between tries, and the longest one. */
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  /** Tries of a delivery before it is parked and waits for a person (E7). */
  readonly deliveryTriesMax: number;
  /** Transactions that the background works on at once. */
  readonly concurrency: number;
  /** Longest time between two looks at the durable records. */
  readonly pollMs: number;
}

export const EFFECT_LIMITS_DEFAULT: EffectLimits = {
  toolDeadlineMs: 30_000,
  lookupDeadlineMs: 10_000,
  settlingMs: 2_000,
  inlineTries: 3,
  inlineMs: 30_000,
  backoffBaseMs: 200,
  backoffCapMs: 300_000,
  deliveryTriesMax: 10,
  concurrency: 4,
  pollMs: 5_000,
};
