// Owns the shape of a compensation plan (C5): data for a driver, a dry run and a person.

import type { EffectRecord, UndoAction } from "@agenttx/model";

/** What this deploy can do for a tool. */
export interface UndoFacts {
  readonly compensate: boolean;
  /** Names of the undo actions that it declares. */
  readonly actions: readonly string[];
  readonly lookup: boolean;
}

export interface PlanInput {
  readonly effects: readonly EffectRecord[];
  readonly undoActions: readonly UndoAction[];
  /** Effects of earlier steps stay as they are. 0 or 1 = all. */
  readonly fromStep: number;
  readonly nowMs: number;
  /** Null for a tool that this deploy does not have (C8). */
  readonly factsOf: (tool: string) => UndoFacts | null;
  /** Digest of text, for example SHA-256 in hex. */
  readonly hash: (text: string) => string;
}

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

export interface CompensationPlan {
  readonly v: 1;
  readonly fromStep: number;
  /** Newest first. */
  readonly lookUp: readonly LookUpItem[];
  /** Staged effects that never leave. */
  readonly drop: readonly string[];
  /** In the order of execution: newest first, which is a reverse dependency order. */
  readonly undo: readonly UndoItem[];
  readonly cannot: readonly CannotItem[];
  /** Names the plan and what it is based on: applying another basis is refused. */
  readonly digest: string;
}
