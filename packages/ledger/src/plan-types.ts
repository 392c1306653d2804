// Owns the shape of a compensation plan (C5): data for a driver, a dry run and a person.

import type { CannotItem, EffectRecord, LookUpItem, UndoAction, UndoItem } from "@agenttx/model";

export type { CannotItem, CannotReason, LookUpItem, UndoItem } from "@agenttx/model";

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
