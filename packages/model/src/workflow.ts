// Owns the words of workflows and their recovery (C1, C2, C4, C6), the same embedded and over the wire.
import type { EffectRecord } from "./effect.js";
import type { JsonValue } from "./json.js";

export type WorkflowState = "Running" | "Frozen" | "Compensating" | "Reconciliation" | "Recovered";

/** A place to go back to: after this step of this revision; step 0 = as the revision began. */
export interface CheckpointRef {
  readonly revision: number;
  readonly step: number;
}

export interface RevisionEntry {
  /** From 1, no gaps. */
  readonly revision: number;
  readonly transaction: string;
  /** Null for the first one. */
  readonly base: CheckpointRef | null;
  readonly startedAtMs: number;
  /** Of the plan whose application it is; null for the first one. */
  readonly planDigest: string | null;
}

export interface WorkflowView {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: WorkflowState;
  readonly revision: number;
  /** Of the current revision; FROZEN while its recovery holds it. */
  readonly transaction: string;
  readonly transactionStatus: string;
  readonly owner: string;
  readonly fencingToken: string;
  readonly revisions: readonly RevisionEntry[];
  /** The recovery under way; null while Running. */
  readonly recovery: {
    readonly actor: string;
    readonly reason: string;
    readonly requestedAtMs: number;
    readonly checkpoint: CheckpointRef | null;
    /** Effects that are still open: what is waited for. */
    readonly open: readonly string[];
    /** Effects that the plan undoes and that were not tried yet: how far it is. */
    readonly untried: readonly string[];
    /** Why it does not go on although nothing is open. */
    readonly problem: string | null;
  } | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

export interface InvariantResult {
  readonly name: string;
  readonly holds: boolean;
  /** Why not; null when it holds. */
  readonly problem: string | null;
}

export interface Checkpoint extends CheckpointRef {
  readonly name: string;
  /** Version of the application's data in it. */
  readonly schemaVersion: number;
  /** Last entry of the revision's audit chain that it covers. */
  readonly eventPosition: number;
  readonly invariants: readonly InvariantResult[];
  readonly validated: boolean;
  readonly atMs: number;
}

/** One line of what was tried and found, from the audit chain or from late evidence. */
export interface Evidence {
  readonly atMs: number;
  /** The ledger's word: request, lose, look-up, compensate, give-up …; `late-result` and the like. */
  readonly event: string;
  readonly why: string | null;
  readonly actor: string | null;
  /** What came too late (E6); null otherwise. */
  readonly late: JsonValue;
}

export interface ReconciliationItem {
  readonly workflow: string;
  readonly revision: number;
  readonly effect: EffectRecord;
  /** Milliseconds since it was made; the age that alarms count. */
  readonly ageMs: number;
  readonly evidence: readonly Evidence[];
  /** Effects that used its result, in whatever state they are. */
  readonly dependants: readonly { readonly effectId: string; readonly state: string }[];
  /** Null, or the moment after which its tool no longer undoes it. */
  readonly undoUntilMs: number | null;
  /** What to do instead of an undo, where its tool says so. */
  readonly forwardRecovery: string | null;
}
