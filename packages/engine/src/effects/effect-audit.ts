// Owns the audit entries of effects: every change of an effect's state, with its reason (C9, C13).
// Kinds: `k` "effect" beside those of the step driver. Arguments stand in the step's own entry.

import type { Bytes, EffectRecord } from "@agenttx/model";

export interface EffectAudit {
  readonly k: "effect";
  readonly at: number;
  /** Step, effect id, tool. */
  readonly s: number;
  readonly e: string;
  readonly t: string;
  /** What happened: the ledger's event, or `look-up`, `undo-confirmed`, `deliver-failed`. */
  readonly ev: string;
  readonly state: string;
  readonly why?: string;
  readonly actor?: string;
}

export function effectAudit(
  effect: EffectRecord,
  event: string,
  nowMs: number,
  more: { readonly why?: string; readonly actor?: string } = {},
): Bytes {
  const entry: EffectAudit = {
    k: "effect",
    at: nowMs,
    s: effect.step,
    e: effect.effectId,
    t: effect.tool,
    ev: event,
    state: effect.state,
    ...more,
  };
  return Buffer.from(JSON.stringify(entry));
}
