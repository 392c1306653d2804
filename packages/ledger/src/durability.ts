// Owns what the state of an effect means for what is kept on disk.

import type { EffectRecord, EffectState } from "@agenttx/model";

/** How an effect stands. A table, so that a new state does not compile until it is placed. */
const STANDING = {
  staged: "waiting",
  dropped: "settled",
  requested: "open",
  confirmed: "done",
  failed: "settled",
  indeterminate: "open",
  absent: "settled",
  compensating: "open",
  compensated: "settled",
  unresolved: "open",
  resolved: "settled",
} as const satisfies Record<EffectState, "waiting" | "open" | "done" | "settled">;

/** Nothing is left to do: its undo actions are removed in the batch that says so. */
export function isSettled(state: EffectState): boolean {
  return STANDING[state] === "settled";
}

/** Somebody must still find out or undo: no commit while one is open (E8a). */
export function isOpen(state: EffectState): boolean {
  return STANDING[state] === "open";
}

/** It stands in the list of what waits for a person or a retry. */
export function isListed(record: EffectRecord): boolean {
  return record.waitsFor !== null;
}
