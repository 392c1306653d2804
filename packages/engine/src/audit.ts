// Owns the entries of a transaction's audit chain: what happened, in order, enough to explain every
// decision without anything else (C13). Secrets are in none of them.
import type { CleanHint, RollbackDecision } from "@agenttx/model";
import type { EffectAudit } from "./effects/effect-audit.js";

/** One entry as it stands in the chain, JSON. `k` kind, `s` step, `at` milliseconds. */
export type AuditRecord =
  | { readonly k: "begin"; readonly at: number; readonly agentId: string; readonly policy: unknown }
  | StepAudit
  | {
      readonly k: "failed";
      readonly at: number;
      readonly s: number;
      readonly t: string | null;
      readonly hint: CleanHint;
      readonly reported?: true;
    }
  | {
      readonly k: "decision";
      readonly at: number;
      readonly s: number;
      readonly decision: RollbackDecision;
    }
  | {
      /** Steps from `to` on were undone (0 = all); `why` is the kind of rollback. */
      readonly k: "rewound";
      readonly at: number;
      readonly s: number;
      readonly to: number;
      readonly why: string;
    }
  | {
      readonly k: "frozen";
      readonly at: number;
      readonly s: number;
      readonly unresolved: readonly string[];
    }
  | { readonly k: "stopped"; readonly at: number; readonly s: number; readonly why: string }
  | { readonly k: "commit"; readonly at: number; readonly steps: number }
  | { readonly k: "abort"; readonly at: number; readonly status: string; readonly reason: string }
  | { readonly k: "resumed"; readonly at: number; readonly s: number }
  | WorkflowAudit
  | EffectAudit;

/** What a workflow's recovery did, with its reason; `data` is for its own `explain` (C9). */
export interface WorkflowAudit {
  readonly k: "workflow";
  readonly at: number;
  readonly w: string;
  readonly ev: string;
  readonly revision: number;
  readonly state: string;
  readonly actor: string;
  readonly why: string;
  readonly data?: unknown;
}

/** A successful step; the same bytes are its record in space `output`. */
export interface StepAudit {
  readonly k: "step";
  readonly s: number;
  /** Attempt number. */
  readonly n: number;
  readonly at: number;
  /** Writes of this step and all before it. */
  readonly w: number;
  readonly t: string;
  /** Arguments as they were sent; null with `big` when over the audit's cap. */
  readonly a: unknown;
  readonly o: unknown;
  /** Raw context, effect id, request id: only when there is one. */
  readonly c?: string;
  readonly e?: string;
  readonly r?: string;
  /** Digests that stand for what is too large for the chain. */
  readonly big?: { readonly bytes: number; readonly sha256: string };
}

const DECODER = new TextDecoder();

export function encodeAudit(record: AuditRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

/** Null for an entry that this version does not know: history shows the rest. */
export function decodeAudit(payload: Uint8Array): AuditRecord | null {
  try {
    const parsed: unknown = JSON.parse(DECODER.decode(payload));
    // Written by this file alone, and the chain's hash covers it.
    if (typeof parsed === "object" && parsed !== null && "k" in parsed)
      return parsed as AuditRecord;
  } catch {
    // Null, as for an entry of another version.
  }
  return null;
}
