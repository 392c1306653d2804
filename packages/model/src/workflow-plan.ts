// Owns the words of a recovery's plan (C5): what a dry run shows and what is applied.
import type { CheckpointRef } from "./workflow.js";

export type CannotReason =
  /** A pivot: see `forwardRecovery`. */
  | "irreversible"
  | "undo-window-passed"
  /** `compensation: ask`: a person starts it. */
  | "ask"
  /** The tool offers no undo, and none was registered. */
  | "no-undo"
  /** Removed or renamed by a deploy; it goes on when the tool is back. */
  | "tool-missing"
  | "action-missing"
  /** An earlier try ended with a person's decision, for example because of a dirty state (E9). */
  | "waits-for-person";

interface Named {
  readonly effectId: string;
  readonly step: number;
  readonly tool: string;
  readonly toolVersion: string;
}

/** Its outcome is unknown: a lookup comes before anything is decided about it (E5). */
export interface LookUpItem extends Named {
  /** False when the tool has no lookup or is missing: it goes to a person. */
  readonly canLookUp: boolean;
}

export interface UndoItem extends Named {
  /** Newest first; those already confirmed are left out. Empty = nothing was registered. */
  readonly actions: readonly { readonly seq: number; readonly action: string }[];
  /** Effects that used its result and cannot be undone (yet): it waits for them (E8). */
  readonly blockedBy: readonly string[];
}

export interface CannotItem extends Named {
  readonly reason: CannotReason;
  /** One sentence for people. */
  readonly explanation: string;
  readonly forwardRecovery: string | null;
}

interface InRevision {
  readonly revision: number;
}

/** A state change in the database that going back takes away with the old revision. */
export interface LocalMutation {
  readonly revision: number;
  readonly step: number;
  readonly tool: string;
}

export interface RecoveryPlan {
  readonly v: 1;
  readonly workflow: string;
  readonly namespace: string;
  /** State when the plan was made; only a plan of a frozen workflow can be applied. */
  readonly state: string;
  readonly fencingToken: string;
  readonly revision: number;
  readonly checkpoint: CheckpointRef & { readonly name: string; readonly schemaVersion: number };
  /** Versions that the application's migrations will be run from, in order. */
  readonly migrations: readonly number[];
  /** Steps after the checkpoint that stand now; their writes go with the old revision. */
  readonly mutations: readonly LocalMutation[];
  /** First of all: what happened is found out, then it is undone or dropped. */
  readonly lookUp: readonly (LookUpItem & InRevision)[];
  /** Staged effects that never leave. */
  readonly drop: readonly string[];
  /** In the order of execution. */
  readonly undo: readonly (UndoItem & InRevision & { readonly undoUntilMs: number | null })[];
  /** What stays, and why; each one goes to a person unless its tool comes back. */
  readonly cannot: readonly (CannotItem & InRevision)[];
  /** Whom the owners named for what needs a person. */
  readonly needsPerson: readonly { readonly effectId: string; readonly owner: string | null }[];
  /** Invariants that must hold before the workflow counts as recovered. */
  readonly invariants: readonly string[];
  readonly digest: string;
}
