// Owns what a sink of staged effects is.

import type { JsonValue } from "@agenttx/model";

export interface StagedEffect {
  /** The same for every delivery of one effect. */
  readonly idempotencyKey: string;
  readonly transaction: string;
  readonly step: number;
  readonly payload: JsonValue;
}

/** Where staged effects go after the commit. Delivery is at least once: a sink knows repeats. */
export interface EffectSink {
  /** Resolves when the effect is durable on the other side. Throws: it will be tried again. */
  deliver(effect: StagedEffect, signal: AbortSignal): Promise<{ readonly duplicate: boolean }>;
  /** Was an effect with this key delivered? Absent: unknown. */
  has?(idempotencyKey: string): Promise<boolean>;
}
