// Goal: every (state, event) pair is the documented edge of E2 or a rejection. Method: the edges
// are written down here a second time, from the rule, and the whole table is walked.

import type { EffectRecord, EffectState } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { advanceEffect, type EffectEvent, type EffectEventType } from "./effect-machine.js";
import { newEffect } from "./new-effect.js";
import { countUndoTry, markUndone, restateProblem } from "./undo-progress.js";

const STATES: readonly EffectState[] = [
  "staged",
  "dropped",
  "requested",
  "confirmed",
  "failed",
  "indeterminate",
  "absent",
  "compensating",
  "compensated",
  "unresolved",
  "resolved",
];

const RESOLUTION = { kind: "accepted-as-is", actor: "ann", note: "paid by hand", atMs: 5 } as const;

const EVENTS: { readonly [Type in EffectEventType]: EffectEvent } = {
  request: { type: "request" },
  drop: { type: "drop" },
  confirm: { type: "confirm", receipt: { id: 7 }, undoUntilMs: 99 },
  fail: { type: "fail" },
  lose: { type: "lose" },
  "find-absent": { type: "find-absent" },
  compensate: { type: "compensate" },
  finish: { type: "finish" },
  "give-up": { type: "give-up", problem: "no answer", waitsFor: "retry" },
  resolve: { type: "resolve", resolution: RESOLUTION },
};

const DOCUMENTED = new Set([
  "staged request requested",
  "staged drop dropped",
  "requested confirm confirmed",
  "requested fail failed",
  "requested lose indeterminate",
  "indeterminate confirm confirmed",
  "indeterminate find-absent absent",
  "indeterminate give-up unresolved",
  "confirmed compensate compensating",
  "compensating finish compensated",
  "compensating give-up unresolved",
  "unresolved compensate compensating",
  "unresolved resolve resolved",
]);

function effect(state: EffectState, changes: Partial<EffectRecord> = {}): EffectRecord {
  const call = {
    transaction: "t",
    namespace: "",
    seq: 1,
    step: 1,
    attempt: 1,
    tool: "carrier.book",
    toolVersion: "1",
    effectClass: "reversible",
    idempotencyKey: "k",
    requestDigest: "d",
    request: {},
    secretPaths: [],
    dependsOn: [],
    compensation: "auto",
    owner: null,
    forwardRecovery: null,
  } as const;
  return { ...newEffect(call, "requested", 1), state, ...changes };
}

describe("advanceEffect", () => {
  for (const state of STATES) {
    for (const event of Object.values(EVENTS)) {
      const edge = [...DOCUMENTED].find((text) => text.startsWith(`${state} ${event.type} `));
      const before = effect(state);
      if (edge === undefined) {
        it(`refuses ${event.type} of a ${state} effect and changes nothing`, () => {
          const copy = structuredClone(before);
          const result = advanceEffect(before, event, 9);
          expect(result).toMatchObject({ ok: false, rejection: { code: "NO_SUCH_EDGE" } });
          expect(before).toEqual(copy);
        });
      } else {
        it(`takes the edge ${edge}`, () => {
          const result = advanceEffect(before, event, 9);
          expect(result.ok && `${state} ${event.type} ${result.record.state}`).toBe(edge);
          expect(result.ok && result.record.updatedAtMs).toBe(9);
        });
      }
    }
  }

  it("refuses a retry as a settlement", () => {
    const event = { type: "resolve", resolution: { ...RESOLUTION, kind: "retry" } } as const;
    expect(advanceEffect(effect("unresolved"), event, 9)).toMatchObject({
      ok: false,
      rejection: { code: "NOT_A_SETTLEMENT" },
    });
  });

  it("knows the outcome from a receipt on, and not while it is indeterminate", () => {
    const lost = advanceEffect(effect("requested"), EVENTS.lose, 2);
    expect(lost.ok && lost.record.outcomeKnown).toBe(false);
    const open = lost.ok ? advanceEffect(lost.record, EVENTS["give-up"], 3) : lost;
    expect(open.ok && open.record).toMatchObject({ outcomeKnown: false, waitsFor: "retry" });
    const found = lost.ok ? advanceEffect(lost.record, EVENTS.confirm, 3) : lost;
    expect(found.ok && found.record).toMatchObject({ outcomeKnown: true, receipt: { id: 7 } });
  });

  it("keeps what it waits for while a retry runs, and clears it when it is settled (L2)", () => {
    const open = effect("unresolved", { waitsFor: "retry", problem: "no answer" });
    const again = advanceEffect(open, EVENTS.compensate, 2);
    expect(again.ok && again.record.waitsFor).toBe("retry");
    const done = again.ok ? advanceEffect(again.record, EVENTS.finish, 3) : again;
    expect(done.ok && done.record).toMatchObject({ waitsFor: null, problem: null });
  });

  it("forgets an approval when the effect waits for a person again (L3)", () => {
    const approved = effect("compensating", { resolution: { ...RESOLUTION, kind: "retry" } });
    const person = advanceEffect(
      approved,
      { type: "give-up", problem: "dirty", waitsFor: "person" },
      4,
    );
    expect(person.ok && person.record.resolution).toBeNull();
    const retry = advanceEffect(approved, EVENTS["give-up"], 4);
    expect(retry.ok && retry.record.resolution?.kind).toBe("retry");
  });

  it("refuses a time that is no number", () => {
    expect(advanceEffect(effect("requested"), EVENTS.lose, Number.NaN)).toMatchObject({
      ok: false,
      rejection: { code: "TIME_INVALID" },
    });
  });

  it("works when the clock went back", () => {
    const result = advanceEffect(effect("requested"), EVENTS.lose, -5);
    expect(result.ok && result.record.updatedAtMs).toBe(-5);
  });
});

describe("changes without an edge", () => {
  it("restate why an effect is open, and only then", () => {
    const open = { problem: "still no answer", waitsFor: "person" } as const;
    for (const state of STATES) {
      expect(restateProblem(effect(state), open, 2).ok).toBe(state === "unresolved");
    }
    const resolution = { ...RESOLUTION, kind: "retry" } as const;
    const asked = restateProblem(effect("unresolved", { resolution }), open, 2);
    expect(asked.ok && asked.record).toMatchObject({ ...open, resolution: null });
  });

  it("keep the progress of an undo only while it runs", () => {
    for (const state of STATES) {
      const before = effect(state);
      expect(countUndoTry(before, 2).ok).toBe(state === "compensating");
      expect(markUndone(before, [3], 2).ok).toBe(state === "compensating");
    }
    const counted = countUndoTry(effect("compensating"), 2);
    expect(counted.ok && counted.record).toMatchObject({ undoAttempts: 1, state: "compensating" });
  });
});
