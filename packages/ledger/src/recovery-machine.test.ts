// Goal: the states of C2 with no other edge. Method: the whole table of (state, event) pairs.

import { describe, expect, it } from "vitest";
import {
  advanceRecovery,
  type RecoveryEvent,
  takeOwnership,
  type WorkflowRecovery,
  type WorkflowState,
} from "./recovery-machine.js";

const STATES: readonly WorkflowState[] = [
  "Running",
  "Frozen",
  "Compensating",
  "Reconciliation",
  "Recovered",
];

const CASES: readonly (readonly [
  RecoveryEvent,
  from: WorkflowState,
  to: WorkflowState | string,
])[] = [
  [{ type: "request-recovery", actor: "ann", reason: "wrong plan" }, "Running", "Frozen"],
  [{ type: "classify", undoable: 2, others: 0 }, "Frozen", "Compensating"],
  [{ type: "classify", undoable: 0, others: 0 }, "Frozen", "Compensating"],
  [{ type: "classify", undoable: 2, others: 1 }, "Frozen", "Compensating"],
  [{ type: "classify", undoable: 0, others: 1 }, "Frozen", "Reconciliation"],
  [{ type: "compensated", open: 0, invariantsHold: true }, "Compensating", "Recovered"],
  [{ type: "compensated", open: 0, invariantsHold: false }, "Compensating", "Reconciliation"],
  [{ type: "compensated", open: 1, invariantsHold: true }, "Compensating", "Reconciliation"],
  [{ type: "reconciled", open: 0, invariantsHold: true }, "Reconciliation", "Recovered"],
  [{ type: "reconciled", open: 1, invariantsHold: true }, "Reconciliation", "ITEMS_OPEN"],
  [{ type: "reconciled", open: 0, invariantsHold: false }, "Reconciliation", "INVARIANTS_FAILED"],
  [{ type: "resume", revision: 4 }, "Recovered", "Running"],
  [{ type: "resume", revision: 6 }, "Recovered", "REVISION_INVALID"],
];

function workflow(state: WorkflowState): WorkflowRecovery {
  const request = state === "Running" ? null : { actor: "ann", reason: "wrong plan" };
  return {
    workflow: "order-1",
    state,
    revision: 3,
    owner: "worker-1",
    fencingToken: 7n,
    request,
    changedAtMs: 1,
  };
}

describe("advanceRecovery", () => {
  for (const [event, from, to] of CASES) {
    for (const state of STATES) {
      const expected = state === from ? to : "NO_SUCH_EDGE";
      it(`answers ${JSON.stringify(event)} while ${state} with ${expected}`, () => {
        const result = advanceRecovery(workflow(state), event, 2);
        expect(result.ok ? result.record.state : result.rejection.code).toBe(expected);
      });
    }
  }

  it("raises the fencing token when it freezes, so that the owner before is stale", () => {
    const event = { type: "request-recovery", actor: "ann", reason: "x" } as const;
    const result = advanceRecovery(workflow("Running"), event, 2);
    expect(result.ok && result.record.fencingToken).toBe(8n);
    expect(result.ok && result.record.request).toEqual({ actor: "ann", reason: "x" });
  });

  it("resumes as the next revision, and history keeps the one before", () => {
    const result = advanceRecovery(workflow("Recovered"), { type: "resume", revision: 4 }, 2);
    expect(result.ok && result.record).toMatchObject({ revision: 4, request: null });
  });
});

describe("takeOwnership", () => {
  it("raises the token in every state and changes no state", () => {
    for (const state of STATES) {
      const taken = takeOwnership(workflow(state), "worker-2", 5);
      expect(taken).toMatchObject({ state, owner: "worker-2", fencingToken: 8n });
    }
  });
});
