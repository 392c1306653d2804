// Owns the first form of an effect record: `requested` for a call that runs now, `staged` for one
// that leaves with the commit (E2, E7).

import type { EffectClass, EffectRecord, JsonValue } from "@agenttx/model";
import { effectIdOf } from "./effect-id.js";

export interface NewEffect {
  readonly transaction: string;
  readonly namespace: string;
  readonly seq: number;
  readonly step: number;
  readonly attempt: number;
  readonly tool: string;
  readonly toolVersion: string;
  readonly effectClass: EffectClass;
  readonly idempotencyKey: string;
  readonly requestDigest: string;
  /** Redacted: what may be stored. */
  readonly request: JsonValue;
  readonly secretPaths: readonly string[];
  readonly dependsOn: readonly string[];
  readonly compensation: "auto" | "ask";
  readonly owner: string | null;
  readonly forwardRecovery: string | null;
}

/** The record as the intent batch writes it. */
export function newEffect(
  call: NewEffect,
  state: "requested" | "staged",
  nowMs: number,
): EffectRecord {
  const { seq, ...named } = call;
  return {
    ...named,
    effectId: effectIdOf(call.transaction, seq),
    state,
    receipt: null,
    undoUntilMs: null,
    outcomeKnown: false,
    undoAttempts: 0,
    undone: [],
    problem: null,
    waitsFor: null,
    resolution: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
