// Owns the states of a workflow in recovery (C2, C3). Pure: time is an argument.
//
//   W1 Running -> Frozen -> Compensating | Reconciliation -> ... -> Recovered -> Running; no other
//      edge exists, and what is not one is rejected and changes nothing.
//   W2 The fencing token only grows: freezing and taking ownership raise it, so writes of the
//      owner before are refused by the storage layer.
//   W3 A mixed plan compensates what it can first; an empty one passes through Compensating.
//   W4 Recovered is reached with nothing open and the invariants verified, or not at all.

import type { WorkflowState } from "@agenttx/model";

export type { WorkflowState } from "@agenttx/model";

export interface WorkflowRecovery {
  readonly workflow: string;
  readonly state: WorkflowState;
  /** From 1; a recovery ends in the next one. */
  readonly revision: number;
  readonly owner: string;
  readonly fencingToken: bigint;
  /** Who asked for the running recovery and why; null while Running. */
  readonly request: { readonly actor: string; readonly reason: string } | null;
  readonly changedAtMs: number;
}

export type RecoveryEvent =
  | { readonly type: "request-recovery"; readonly actor: string; readonly reason: string }
  /** The plan stands: how many effects it undoes, and how many need a lookup or a person. */
  | { readonly type: "classify"; readonly undoable: number; readonly others: number }
  /** All undos of the plan were tried. `open` counts what is unresolved, `others` included. */
  | { readonly type: "compensated"; readonly open: number; readonly invariantsHold: boolean }
  /** The last open item got its resolution, by a person or by a late success (actor `system`). */
  | { readonly type: "reconciled"; readonly open: number; readonly invariantsHold: boolean }
  | { readonly type: "resume"; readonly revision: number };

export interface RecoveryRejection {
  readonly code: "NO_SUCH_EDGE" | "ITEMS_OPEN" | "INVARIANTS_FAILED" | "REVISION_INVALID";
  readonly message: string;
}

export type RecoveryTransition =
  | { readonly ok: true; readonly record: WorkflowRecovery }
  | { readonly ok: false; readonly rejection: RecoveryRejection };

const FROM = {
  "request-recovery": "Running",
  classify: "Frozen",
  compensated: "Compensating",
  reconciled: "Reconciliation",
  resume: "Recovered",
} as const satisfies Record<RecoveryEvent["type"], WorkflowState>;

/** The record after the event, or why there is no such transition (W1). */
export function advanceRecovery(
  record: WorkflowRecovery,
  event: RecoveryEvent,
  nowMs: number,
): RecoveryTransition {
  if (record.state !== FROM[event.type]) {
    return rejected(
      "NO_SUCH_EDGE",
      `Workflow ${record.workflow} is ${record.state}; "${event.type}" needs ${FROM[event.type]}.`,
    );
  }
  const moved = (changes: Partial<WorkflowRecovery>): RecoveryTransition => ({
    ok: true,
    record: { ...record, ...changes, changedAtMs: nowMs },
  });
  switch (event.type) {
    case "request-recovery":
      return moved({
        state: "Frozen",
        fencingToken: record.fencingToken + 1n,
        request: { actor: event.actor, reason: event.reason },
      });
    case "classify": {
      const onlyOthers = event.undoable === 0 && event.others > 0;
      return moved({ state: onlyOthers ? "Reconciliation" : "Compensating" });
    }
    case "compensated": {
      const whole = event.open === 0 && event.invariantsHold;
      return moved({ state: whole ? "Recovered" : "Reconciliation" });
    }
    case "reconciled":
      if (event.open > 0) return rejected("ITEMS_OPEN", `${event.open} items are still open.`);
      if (!event.invariantsHold) {
        return rejected(
          "INVARIANTS_FAILED",
          `Nothing is open in workflow ${record.workflow}, but its invariants do not hold; it stays in Reconciliation. Correct the state they name, then record it.`,
        );
      }
      return moved({ state: "Recovered" });
    case "resume":
      if (event.revision !== record.revision + 1) {
        return rejected(
          "REVISION_INVALID",
          `Revision ${event.revision} does not follow ${record.revision}; revisions have no gaps.`,
        );
      }
      return moved({ state: "Running", revision: event.revision, request: null });
  }
}

/** Another owner takes over in any state; the token before it is stale from now on (W2, C3). */
export function takeOwnership(
  record: WorkflowRecovery,
  owner: string,
  nowMs: number,
): WorkflowRecovery {
  return { ...record, owner, fencingToken: record.fencingToken + 1n, changedAtMs: nowMs };
}

function rejected(code: RecoveryRejection["code"], message: string): RecoveryTransition {
  return { ok: false, rejection: { code, message } };
}
