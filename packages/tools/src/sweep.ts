// Owns the question that a sweep asks about what it found: may it still be needed?

/** The effect that a copy or a marker was kept for. */
export interface KeptFor {
  readonly transaction: string;
  /** Tenant of the transaction; "" without tenants. */
  readonly namespace: string;
  readonly idempotencyKey: string;
}

/**
 * True while the effect may still be undone or looked up: its transaction has not ended, or has
 * ended with effects that are unresolved. A tool cannot know; the owner of the engine does. When
 * in doubt, answer true: what is kept too long costs space, what goes too early cannot be undone.
 */
export type IsOpen = (keptFor: KeptFor) => Promise<boolean> | boolean;
