// Owns what changes on a record without an edge: the state stays `compensating` or `unresolved`.

import type { EffectRecord } from "@agenttx/model";
import type { EffectTransition } from "./effect-machine.js";

/** One more try is about to run. Durable before it does, so that tries are counted over crashes. */
export function countUndoTry(record: EffectRecord, nowMs: number): EffectTransition {
  return progress(record, { undoAttempts: record.undoAttempts + 1 }, nowMs);
}

/** These undo actions are confirmed; they are not run again (E8). */
export function markUndone(
  record: EffectRecord,
  undone: readonly number[],
  nowMs: number,
): EffectTransition {
  return progress(record, { undone: [...undone] }, nowMs);
}

/** It is still open, for this reason now. A question to a person forgets an earlier answer (L3). */
export function restateProblem(
  record: EffectRecord,
  open: { readonly problem: string; readonly waitsFor: "retry" | "person" | "tool" },
  nowMs: number,
): EffectTransition {
  if (record.state !== "unresolved") {
    return refused(record, "it is not unresolved");
  }
  const resolution = open.waitsFor === "person" ? null : record.resolution;
  return { ok: true, record: { ...record, ...open, resolution, updatedAtMs: nowMs } };
}

function refused(record: EffectRecord, why: string): EffectTransition {
  const message = `Effect ${record.effectId} is ${record.state}; ${why}.`;
  return { ok: false, rejection: { code: "NO_SUCH_EDGE", message } };
}

function progress(
  record: EffectRecord,
  changes: Partial<EffectRecord>,
  nowMs: number,
): EffectTransition {
  if (record.state !== "compensating") {
    return refused(record, "no undo of it is running");
  }
  return { ok: true, record: { ...record, ...changes, updatedAtMs: nowMs } };
}
