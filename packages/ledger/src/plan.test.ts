// Goal: the plan says what is undone, in which order, and what is not and why (C5, E8).

import type { EffectRecord, UndoAction } from "@agenttx/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectIdOf } from "./effect-id.js";
import { newEffect } from "./new-effect.js";
import { planCompensation } from "./plan.js";
import type { PlanInput, UndoFacts } from "./plan-types.js";

const FACTS: UndoFacts = { compensate: true, actions: ["remove"], lookup: true };

function effect(seq: number, changes: Partial<EffectRecord> = {}): EffectRecord {
  const call = {
    transaction: "t",
    namespace: "",
    seq,
    step: seq,
    attempt: 1,
    tool: "carrier.book",
    toolVersion: "1",
    effectClass: "reversible",
    idempotencyKey: `k${seq}`,
    requestDigest: "d",
    request: {},
    secretPaths: [],
    dependsOn: [],
    compensation: "auto",
    owner: null,
    forwardRecovery: null,
  } as const;
  return { ...newEffect(call, "requested", 1), state: "confirmed", outcomeKnown: true, ...changes };
}

function undo(seq: number, effectSeq: number, action = "compensate"): UndoAction {
  return {
    seq,
    effectId: effectIdOf("t", effectSeq),
    step: effectSeq,
    tool: "carrier.book",
    toolVersion: "1",
    action,
    args: {},
    secretPaths: [],
  };
}

function plan(input: Partial<PlanInput>) {
  return planCompensation({
    effects: [],
    undoActions: [],
    fromStep: 1,
    nowMs: 100,
    factsOf: () => FACTS,
    hash: (text) => text,
    ...input,
  });
}

describe("planCompensation", () => {
  it("undoes newest first, whatever the order of the records and of their times", () => {
    const effects = [effect(2, { createdAtMs: 1 }), effect(10, { createdAtMs: 1 }), effect(1)];
    const result = plan({ effects, undoActions: [undo(1, 1), undo(2, 2), undo(3, 10)] });
    expect(result.undo.map((item) => item.effectId)).toEqual(["t/10", "t/2", "t/1"]);
  });

  it("undoes the actions of one effect newest first and leaves out the confirmed ones", () => {
    const result = plan({
      effects: [effect(1, { state: "compensating", undone: [3] })],
      undoActions: [undo(1, 1), undo(3, 1, "remove"), undo(2, 1, "remove")],
    });
    expect(result.undo[0]?.actions.map(({ seq }) => seq)).toEqual([2, 1]);
  });

  it("leaves earlier steps and settled effects alone", () => {
    const settled = (["compensated", "failed", "absent", "resolved", "dropped"] as const).map(
      (state, index) => effect(index + 2, { state }),
    );
    const result = plan({
      effects: [effect(1), ...settled],
      undoActions: [undo(1, 1)],
      fromStep: 2,
    });
    expect([result.undo, result.cannot, result.lookUp, result.drop]).toEqual([[], [], [], []]);
  });

  it("drops what is staged and looks up what is not known", () => {
    const result = plan({
      effects: [
        effect(1, { state: "staged", outcomeKnown: false }),
        effect(2, { state: "requested", outcomeKnown: false }),
        effect(3, { state: "unresolved", outcomeKnown: false }),
      ],
    });
    expect(result.drop).toEqual(["t/1"]);
    expect(result.lookUp.map((item) => item.effectId)).toEqual(["t/3", "t/2"]);
  });

  const cannot: readonly (readonly [string, Partial<EffectRecord>, UndoFacts | null, string])[] = [
    [
      "a pivot",
      { effectClass: "irreversible", forwardRecovery: "call ann" },
      FACTS,
      "irreversible",
    ],
    ["a passed undo window", { undoUntilMs: 99 }, FACTS, "undo-window-passed"],
    ["compensation on request", { compensation: "ask" }, FACTS, "ask"],
    ["a missing tool", {}, null, "tool-missing"],
    ["a missing action", {}, { ...FACTS, compensate: false }, "action-missing"],
    ["a person's turn", { state: "unresolved", waitsFor: "person" }, FACTS, "waits-for-person"],
  ];
  for (const [name, changes, facts, reason] of cannot) {
    it(`cannot undo ${name} and says why`, () => {
      const effects = [effect(1, changes)];
      const result = plan({ effects, undoActions: [undo(1, 1)], factsOf: () => facts });
      expect(result.undo).toEqual([]);
      expect(result.cannot).toMatchObject([{ effectId: "t/1", reason }]);
    });
  }

  it("cannot undo what has no undo, but has nothing to do where none was registered", () => {
    const none = plan({
      effects: [effect(1)],
      factsOf: () => ({ compensate: false, actions: [], lookup: false }),
    });
    expect(none.cannot).toMatchObject([{ reason: "no-undo" }]);
    const unused = plan({ effects: [effect(1)] });
    expect(unused.undo).toMatchObject([{ effectId: "t/1", actions: [] }]);
  });

  it("lets a person's retry overrule time, question and earlier doubt, but not a pivot", () => {
    const resolution = { kind: "retry", actor: "ann", note: "go", atMs: 1 } as const;
    const changes: Partial<EffectRecord>[] = [
      { undoUntilMs: 99 },
      { compensation: "ask" },
      { state: "unresolved", waitsFor: "person" },
    ];
    for (const change of changes) {
      const effects = [effect(1, { ...change, resolution })];
      expect(plan({ effects, undoActions: [undo(1, 1)] }).undo).toHaveLength(1);
    }
    const pivot = plan({ effects: [effect(1, { effectClass: "irreversible", resolution })] });
    expect(pivot.cannot).toHaveLength(1);
  });

  it.each<readonly [string, Partial<EffectRecord>, UndoFacts | null, string]>([
    [
      "a pivot",
      { effectClass: "irreversible" },
      FACTS,
      '"carrier.book" (version 1) acted at once and cannot be undone.',
    ],
    [
      "a passed window",
      { undoUntilMs: 99 },
      FACTS,
      'The time in which "carrier.book" (version 1) can be undone has passed.',
    ],
    [
      "a question to nobody in particular",
      { compensation: "ask" },
      FACTS,
      '"carrier.book" (version 1) is undone only when a person starts it.',
    ],
    [
      "a question to its owner",
      { compensation: "ask", owner: "logistics" },
      FACTS,
      '"carrier.book" (version 1) is undone only when logistics starts it.',
    ],
    [
      "a missing tool",
      {},
      null,
      'Tool "carrier.book" (version 1) is not registered in this deployment. It is undone when the tool is back.',
    ],
    [
      "a missing action",
      {},
      { ...FACTS, compensate: false },
      'Tool "carrier.book" (version 1) no longer has an undo action that it registered. It is undone when the action is back.',
    ],
    [
      "a person's turn without a reason",
      { waitsFor: "person" },
      FACTS,
      "An earlier try ended with a question to a person.",
    ],
    ["a person's turn", { waitsFor: "person", problem: "it is dirty" }, FACTS, "it is dirty"],
  ])("explains %s", (_what, changes, facts, explanation) => {
    const result = plan({
      effects: [effect(1, changes)],
      undoActions: [undo(1, 1)],
      factsOf: () => facts,
    });
    expect(result.cannot[0]?.explanation).toBe(explanation);
  });

  it("explains that no undo is offered", () => {
    const facts = { compensate: false, actions: [], lookup: false };
    expect(plan({ effects: [effect(1)], factsOf: () => facts }).cannot[0]?.explanation).toBe(
      '"carrier.book" (version 1) offers no undo.',
    );
  });

  it("undoes in the last millisecond of the window", () => {
    const effects = [effect(1, { undoUntilMs: 100 })];
    expect(plan({ effects, undoActions: [undo(1, 1)] }).undo).toHaveLength(1);
  });

  it("finds a registered action missing when others are there", () => {
    const effects = [effect(1)];
    const undoActions = [undo(1, 1, "remove"), undo(2, 1, "gone")];
    expect(plan({ effects, undoActions }).cannot[0]?.reason).toBe("action-missing");
    const without = { ...FACTS, actions: [] };
    const result = plan({ effects, undoActions: [undo(1, 1)], factsOf: () => without });
    expect(result.undo).toHaveLength(1);
  });

  it("says whether a lookup can be asked, also when the tool is gone", () => {
    const effects = [effect(1, { state: "requested", outcomeKnown: false })];
    const canLookUp = (facts: UndoFacts | null) =>
      plan({ effects, factsOf: () => facts }).lookUp[0]?.canLookUp;
    expect([canLookUp(FACTS), canLookUp({ ...FACTS, lookup: false }), canLookUp(null)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("names every effect that holds one back, and reads past names that nobody has", () => {
    const effects = [
      effect(1),
      effect(2, { dependsOn: ["t/1", "gone/1"], compensation: "ask" }),
      effect(3, { dependsOn: ["t/1"], compensation: "ask" }),
    ];
    const undoActions = [undo(1, 1), undo(2, 2), undo(3, 3)];
    expect(plan({ effects, undoActions }).undo).toMatchObject([
      { effectId: "t/1", blockedBy: ["t/3", "t/2"] },
    ]);
  });

  it("shows the forward recovery of a pivot", () => {
    const pivot = effect(1, { effectClass: "irreversible", forwardRecovery: "Refund desk" });
    expect(plan({ effects: [pivot] }).cannot[0]?.explanation).toContain("Refund desk");
  });

  it("blocks only what an effect that stays used, and what that used in turn", () => {
    const effects = [
      effect(1),
      effect(2, { dependsOn: ["t/1"] }),
      effect(3),
      effect(4, { dependsOn: ["t/2"], compensation: "ask" }),
    ];
    const undoActions = [undo(1, 1), undo(2, 2), undo(3, 3), undo(4, 4)];
    const result = plan({ effects, undoActions });
    expect(result.undo.map(({ effectId, blockedBy }) => [effectId, blockedBy])).toEqual([
      ["t/3", []],
      ["t/2", ["t/4"]],
      ["t/1", ["t/2"]],
    ]);
  });

  it("gives another digest when the basis has changed", () => {
    const undoActions = [undo(1, 1), undo(2, 1, "remove")];
    const digest = (changes: Partial<EffectRecord>): string =>
      plan({ effects: [effect(1, changes)], undoActions }).digest;
    expect(digest({})).toBe(digest({}));
    expect(digest({ state: "compensating" })).not.toBe(digest({}));
    expect(digest({ state: "compensating", undone: [2] })).not.toBe(
      digest({ state: "compensating" }),
    );
    // What the plan itself does not show is part of the basis all the same.
    expect(digest({ state: "compensating", undone: [7] })).not.toBe(
      digest({ state: "compensating" }),
    );
    expect(digest({ toolVersion: "2" })).not.toBe(digest({}));
  });

  it("places every open effect exactly once, and dependants before what they used", () => {
    const record = fc.record({
      state: fc.constantFrom("staged", "requested", "confirmed", "compensating", "unresolved"),
      ask: fc.boolean(),
      known: fc.boolean(),
      uses: fc.array(fc.nat(20), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (rows) => {
        const effects = rows.map((row, index) =>
          effect(index + 1, {
            state: row.state as EffectRecord["state"],
            outcomeKnown: row.known,
            compensation: row.ask ? "ask" : "auto",
            dependsOn: row.uses.filter((used) => used > 0 && used <= index).map((n) => `t/${n}`),
          }),
        );
        const undoActions = effects.map((_, index) => undo(index + 1, index + 1));
        const { lookUp, drop, undo: items, cannot } = plan({ effects, undoActions });
        const all = [...lookUp, ...items, ...cannot].map((item) => item.effectId).concat(drop);
        expect(all.sort()).toEqual(effects.map((one) => one.effectId).sort());
        const place = new Map(items.map((item, index) => [item.effectId, index]));
        for (const one of effects) {
          for (const used of one.dependsOn) {
            const [later, earlier] = [place.get(one.effectId), place.get(used)];
            if (later !== undefined && earlier !== undefined) expect(later).toBeLessThan(earlier);
          }
        }
      }),
    );
  });
});
