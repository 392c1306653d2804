// Owns the words of the effect ledger (rules E1-E9): classes, states, the durable record.
// `@agenttx/ledger` owns the transitions.

import type { JsonValue } from "./json.js";
import type { StepNumber } from "./transaction.js";

export type EffectClass = "read-only" | "reversible" | "irreversible";

/**
 * requested -> confirmed | failed | indeterminate; confirmed -> compensating -> compensated |
 * unresolved; indeterminate -> confirmed | absent | unresolved; unresolved -> compensating |
 * resolved. `staged` waits for commit and then becomes `requested` in the outbox, or `dropped`.
 */
export type EffectState =
  | "staged"
  | "dropped"
  | "requested"
  | "confirmed"
  | "failed"
  | "indeterminate"
  | "absent"
  | "compensating"
  | "compensated"
  | "unresolved"
  | "resolved";

export type ResolutionKind =
  | "happened"
  | "did-not-happen"
  | "compensated-by-hand"
  | "accepted-as-is"
  | "retry";

export interface Resolution {
  readonly kind: ResolutionKind;
  readonly actor: string;
  readonly note: string;
  readonly atMs: number;
}

/** An undo as data: a tool's compensation, or an action the tool registered; never a closure. */
export interface UndoAction {
  /** Order of registration within the transaction, from 1; undone newest first. */
  readonly seq: number;
  readonly effectId: string;
  readonly step: StepNumber;
  readonly tool: string;
  readonly toolVersion: string;
  /** `compensate`, or the name of an action the tool declared in `undo`. */
  readonly action: string;
  readonly args: JsonValue;
  /** Members of `args` whose secret references are filled in before it runs; as in EffectRecord. */
  readonly secretPaths: readonly string[];
}

/** The durable account of one effectful call (E2). Bytes on disk are its JSON. */
export interface EffectRecord {
  readonly effectId: string;
  readonly transaction: string;
  /** Tenant of the transaction; "" without tenants. */
  readonly namespace: string;
  readonly step: StepNumber;
  readonly attempt: number;
  readonly tool: string;
  readonly toolVersion: string;
  readonly effectClass: EffectClass;
  readonly state: EffectState;
  readonly idempotencyKey: string;
  /** SHA-256, hex, of the canonical request. */
  readonly requestDigest: string;
  /** The request with secrets redacted: what compensation and people may see. */
  readonly request: JsonValue;
  /** JSON pointers to texts in `request` that the caller wrote with `${secrets.NAME}`. Only these
   *  are ever filled in again: equal text that came out of an output is no reference. */
  readonly secretPaths: readonly string[];
  /** The tool's output once confirmed, else null. */
  readonly receipt: JsonValue;
  /** Earlier effects whose results this one explicitly used: they are undone after it. */
  readonly dependsOn: readonly string[];
  readonly compensation: "auto" | "ask";
  readonly owner: string | null;
  /** Milliseconds since the epoch after which it can no longer be undone, or null. */
  readonly undoUntilMs: number | null;
  /** What a person does instead of an undo: named by tools that act irreversibly at once (E1). */
  readonly forwardRecovery: string | null;
  /** False until a receipt, a throw or a lookup told what happened. */
  readonly outcomeKnown: boolean;
  readonly undoAttempts: number;
  /** Seqs of the undo actions that are confirmed while others of the effect are still to run. */
  readonly undone: readonly number[];
  /** Why it is unresolved, for people; null otherwise. */
  readonly problem: string | null;
  /** Who moves it on while it is unresolved or retried: the engine, a person, the return of its
   *  tool. Null in every other case; it is listed as open exactly while this is not null. */
  readonly waitsFor: "retry" | "person" | "tool" | null;
  readonly resolution: Resolution | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
