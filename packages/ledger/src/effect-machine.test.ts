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

  /** What each event changes besides state and time, written down a second time. */
  const CHANGES: { readonly [Type in EffectEventType]: Partial<EffectRecord> } = {
    request: {},
    drop: { outcomeKnown: true },
    confirm: { outcomeKnown: true, receipt: { id: 7 }, undoUntilMs: 99 },
    fail: { outcomeKnown: true },
    lose: {},
    "find-absent": { outcomeKnown: true },
    compensate: { outcomeKnown: true },
    finish: { waitsFor: null, problem: null, undone: [] },
    "give-up": { problem: "no answer", waitsFor: "retry" },
    resolve: {
      outcomeKnown: true,
      resolution: RESOLUTION,
      waitsFor: null,
      problem: null,
      undone: [],
    },
  };

  it.each([...DOCUMENTED])("changes by %s what belongs to the event, and nothing else", (edge) => {
    const [from, type, to] = edge.split(" ") as [EffectState, EffectEventType, EffectState];
    const earlier = { waitsFor: "tool", problem: "earlier", undone: [2], receipt: { id: 1 } };
    const before = effect(from, earlier as Partial<EffectRecord>);
    const result = advanceEffect(before, EVENTS[type], 9);
    expect(result).toEqual({
      ok: true,
      record: { ...before, ...CHANGES[type], state: to, updatedAtMs: 9 },
    });
  });

  it.each(["compensate", "resolve"] as const)(
    "takes what told that it landed, and who said so, with a %s",
    (type) => {
      const before = effect("unresolved", { receipt: { id: 1 } });
      const event = { type, resolution: RESOLUTION, receipt: null } as const;
      const result = advanceEffect(before, event, 9);
      expect(result.ok && result.record).toMatchObject({ resolution: RESOLUTION, receipt: null });
    },
  );

  it("says in a refusal what stands and what was asked", () => {
    const rejection = (state: EffectState, event: EffectEvent, nowMs = 9) => {
      const result = advanceEffect(effect(state), event, nowMs);
      return result.ok ? null : result.rejection.message;
    };
    expect(rejection("resolved", EVENTS.fail)).toBe(
      'Effect t/1 is resolved; "fail" does not apply to it.',
    );
    const retry = { type: "resolve", resolution: { ...RESOLUTION, kind: "retry" } } as const;
    expect(rejection("unresolved", retry)).toBe(
      "A retry settles nothing: it starts the undo again.",
    );
    expect(rejection("requested", EVENTS.lose, Number.POSITIVE_INFINITY)).toBe(
      "The time Infinity is no number.",
    );
  });

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
    const marked = markUndone(effect("compensating", { undone: [1] }), [3, 1], 2);
    expect(marked.ok && marked.record).toMatchObject({ undone: [3, 1], updatedAtMs: 2 });
  });

  it("keep an earlier answer while it waits for no person", () => {
    const resolution = { ...RESOLUTION, kind: "retry" } as const;
    const open = { problem: "no answer", waitsFor: "tool" } as const;
    const restated = restateProblem(effect("unresolved", { resolution }), open, 2);
    expect(restated.ok && restated.record.resolution).toEqual(resolution);
  });

  it("say why they are refused", () => {
    const open = { problem: "still no answer", waitsFor: "person" } as const;
    expect(restateProblem(effect("confirmed"), open, 2)).toEqual({
      ok: false,
      rejection: {
        code: "NO_SUCH_EDGE",
        message: "Effect t/1 is confirmed; it is not unresolved.",
      },
    });
    expect(countUndoTry(effect("unresolved"), 2)).toMatchObject({
      rejection: { message: "Effect t/1 is unresolved; no undo of it is running." },
    });
  });
});
