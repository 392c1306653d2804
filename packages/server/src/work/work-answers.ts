// Owns what a worker may answer to each kind of work, and what it means for the engine. A word that
// does not fit is refused before the item ends, so that it can never pass for a success.

import { AgentTxError, type JsonValue, type LookupResult, type UndoResult } from "@agenttx/model";
import type { WorkAnswer, WorkKind } from "./work-queue.js";

const UNDO = ["undone", "already-undone", "dirty", "error"];

const STATUSES: Readonly<Record<WorkKind, readonly string[]>> = {
  compensate: UNDO,
  undo: UNDO,
  lookup: ["landed", "absent", "absent-final", "unknown", "error"],
  verify: ["gone", "still-there", "error"],
  deliver: ["delivered", "error"],
};

/** Throws INVALID_ARGUMENT for a status that is no answer to this kind of work. */
export function requireStatus(kind: WorkKind, status: string): void {
  if (STATUSES[kind].includes(status)) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `\`status\` of ${kind} is one of ${STATUSES[kind].join(", ")}; the item is still yours.`,
    { details: { field: "status" } },
  );
}

export function undoResult(answer: WorkAnswer): UndoResult {
  if (answer.status === "undone" || answer.status === "already-undone") {
    return { status: answer.status };
  }
  if (answer.status === "dirty") {
    return { status: "dirty", expected: "as the step left it", found: answer.message };
  }
  throw reported(answer);
}

export function lookupResult(answer: WorkAnswer): LookupResult {
  switch (answer.status) {
    case "landed": {
      const output = outputOf(answer);
      return output === undefined ? { status: "landed" } : { status: "landed", output };
    }
    case "absent":
      return { status: "absent", final: false };
    case "absent-final":
      return { status: "absent", final: true };
    case "unknown":
      return { status: "unknown" };
    default:
      throw reported(answer);
  }
}

/** True when it is gone. */
export function verifyResult(answer: WorkAnswer): boolean {
  if (answer.status === "gone") return true;
  if (answer.status === "still-there") return false;
  throw reported(answer);
}

export function deliverResult(answer: WorkAnswer): JsonValue {
  if (answer.status !== "delivered") throw reported(answer);
  return outputOf(answer) ?? null;
}

function reported(answer: WorkAnswer): Error {
  return new Error(answer.message === "" ? "the worker reported an error" : answer.message);
}

/** CompleteWork has checked that it is JSON. */
function outputOf(answer: WorkAnswer): JsonValue | undefined {
  return answer.outputJson === "" ? undefined : (JSON.parse(answer.outputJson) as JsonValue);
}
