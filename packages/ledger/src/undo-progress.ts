// Owns what changes on a record while its undo runs: no edge, the state stays `compensating`.

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

function progress(
  record: EffectRecord,
  changes: Partial<EffectRecord>,
  nowMs: number,
): EffectTransition {
  if (record.state !== "compensating") {
    return {
      ok: false,
      rejection: {
        code: "NO_SUCH_EDGE",
        message: `Effect ${record.effectId} is ${record.state}; no undo of it is running.`,
      },
    };
  }
  return { ok: true, record: { ...record, ...changes, updatedAtMs: nowMs } };
}
