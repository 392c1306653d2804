// Owns the transitions of an effect record (E2). Pure: time is an argument.
//
//   L1 A state changes along an edge of EFFECT_EDGES, or the event is rejected and nothing changes.
//   L2 `waitsFor` and `problem` are null except while an effect is unresolved or retried from there.
//   L3 A resolution that asked for a retry is forgotten when the effect waits for a person again,
//      so that the person can answer anew (C6).

import type { EffectRecord, EffectState, JsonValue, Resolution } from "@agenttx/model";

export type EffectEvent =
  /** The commit puts a staged effect into the outbox. */
  | { readonly type: "request" }
  /** A rewind or abort takes a staged effect back before it left. */
  | { readonly type: "drop" }
  /** It happened, or may have happened in part: receipt null when there is no output. */
  | {
      readonly type: "confirm";
      readonly receipt: JsonValue;
      readonly undoUntilMs: number | null;
    }
  /** Certainly nothing happened (DefiniteFailure). */
  | { readonly type: "fail" }
  /** Deadline or crash between intent and receipt (E5). */
  | { readonly type: "lose" }
  /** A lookup says that it did not happen and will not. */
  | { readonly type: "find-absent" }
  /** The undo begins. From `unresolved` it is a retry; what told that it landed may be added. */
  | {
      readonly type: "compensate";
      readonly resolution?: Resolution;
      readonly receipt?: JsonValue;
    }
  /** Undone and verified. */
  | { readonly type: "finish" }
  /** Nobody can tell, or the undo did not work: it stays open (E8). */
  | {
      readonly type: "give-up";
      readonly problem: string;
      readonly waitsFor: "retry" | "person" | "tool";
    }
  /** An actor settles it (C6). Not `retry`, which is a `compensate`. */
  | {
      readonly type: "resolve";
      readonly resolution: Resolution;
      readonly receipt?: JsonValue;
    };

export type EffectEventType = EffectEvent["type"];

/** Event -> state before -> state after. What is not here is refused. */
export const EFFECT_EDGES = {
  request: { staged: "requested" },
  drop: { staged: "dropped" },
  confirm: { requested: "confirmed", indeterminate: "confirmed" },
  fail: { requested: "failed" },
  lose: { requested: "indeterminate" },
  "find-absent": { indeterminate: "absent" },
  compensate: { confirmed: "compensating", unresolved: "compensating" },
  finish: { compensating: "compensated" },
  "give-up": { indeterminate: "unresolved", compensating: "unresolved" },
  resolve: { unresolved: "resolved" },
} as const satisfies Record<EffectEventType, Partial<Record<EffectState, EffectState>>>;

export interface EffectRejection {
  readonly code: "NO_SUCH_EDGE" | "NOT_A_SETTLEMENT" | "TIME_INVALID";
  readonly message: string;
}

export type EffectTransition =
  | { readonly ok: true; readonly record: EffectRecord }
  | { readonly ok: false; readonly rejection: EffectRejection };

/** The record after the event, or why there is no such transition (L1). Changes nothing itself. */
export function advanceEffect(
  record: EffectRecord,
  event: EffectEvent,
  nowMs: number,
): EffectTransition {
  if (!Number.isFinite(nowMs)) return rejected("TIME_INVALID", `The time ${nowMs} is no number.`);
  const edges: Partial<Record<EffectState, EffectState>> = EFFECT_EDGES[event.type];
  const state = Object.hasOwn(edges, record.state) ? edges[record.state] : undefined;
  if (state === undefined) {
    return rejected(
      "NO_SUCH_EDGE",
      `Effect ${record.effectId} is ${record.state}; "${event.type}" does not apply to it.`,
    );
  }
  if (event.type === "resolve" && event.resolution.kind === "retry") {
    return rejected("NOT_A_SETTLEMENT", "A retry settles nothing: it starts the undo again.");
  }
  const changed = { ...record, ...changesOf(record, event), state, updatedAtMs: nowMs };
  return { ok: true, record: changed };
}

function rejected(code: EffectRejection["code"], message: string): EffectTransition {
  return { ok: false, rejection: { code, message } };
}

function changesOf(record: EffectRecord, event: EffectEvent): Partial<EffectRecord> {
  switch (event.type) {
    case "request":
    case "lose":
      return {};
    case "drop":
    case "fail":
    case "find-absent":
      return { outcomeKnown: true };
    case "confirm":
      return { outcomeKnown: true, receipt: event.receipt, undoUntilMs: event.undoUntilMs };
    case "compensate":
      return {
        outcomeKnown: true,
        ...(event.receipt === undefined ? {} : { receipt: event.receipt }),
        ...(event.resolution === undefined ? {} : { resolution: event.resolution }),
      };
    case "finish":
      return { waitsFor: null, problem: null, undone: [] };
    case "give-up":
      return {
        problem: event.problem,
        waitsFor: event.waitsFor,
        ...(event.waitsFor === "person" && record.resolution !== null ? { resolution: null } : {}),
      };
    case "resolve":
      return {
        outcomeKnown: true,
        resolution: event.resolution,
        waitsFor: null,
        problem: null,
        undone: [],
        ...(event.receipt === undefined ? {} : { receipt: event.receipt }),
      };
  }
}
