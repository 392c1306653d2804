// Goal: one failure, one decision, as R1-R6, R9a, R10 and G3a say. Method: a lookup that answers
// what the case needs, deeply frozen arguments, whole decisions compared.
import type { RollbackCounters } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { initialCounters, recordSuccess } from "./counters.js";
import { type DecideInput, decide } from "./decide.js";
import { PolicyError } from "./policy-error.js";
import { DEFAULT_POLICY } from "./resolve-policy.js";
import type { RootCauseLookup } from "./root-cause-lookup.js";

/** A graph that knows the roots given, whatever the step. */
function rootsOf(roots: Readonly<Record<string, unknown>>): RootCauseLookup {
  return { findRootCause: (_step, key) => (roots[key] ?? null) as number | null };
}

const NO_ROOTS = rootsOf({});

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}

function countersAt(changes: Partial<RollbackCounters>): RollbackCounters {
  return freeze({ ...initialCounters(), ...changes });
}

function decideAt(changes: Partial<DecideInput>) {
  return decide(
    freeze({
      policy: DEFAULT_POLICY,
      counters: countersAt({ furthestStep: 10 }),
      graph: NO_ROOTS,
      step: 10,
      key: null,
      ...changes,
    }),
  );
}

describe("R1 counting", () => {
  it("counts every failure of a step, also those that led to a jump", () => {
    const graph = rootsOf({ id: 3 });
    const jumped = decideAt({ graph, key: "id" });
    expect(jumped.decision.strategy).toBe("DEPENDENCY_JUMP");
    const backtracked = decideAt({ counters: jumped.counters });
    expect(backtracked.decision).toMatchObject({ rollbackToStep: 8, replayCost: 3 });
    expect(backtracked.counters.failures).toEqual({ 10: 2 });
  });

  it("is not cleared by a later success of the step", () => {
    const failed = decideAt({});
    const later = recordSuccess(failed.counters, 10);
    expect(decideAt({ counters: later }).decision.reason.failureNumber).toBe(2);
  });

  it("moves N to the failed step when that is further", () => {
    expect(decideAt({ step: 12 }).counters.furthestStep).toBe(12);
    expect(decideAt({ step: 4 }).counters.furthestStep).toBe(10);
  });

  it("counts steps apart", () => {
    const first = decideAt({ step: 9 });
    expect(decideAt({ counters: first.counters }).decision.reason.failureNumber).toBe(1);
  });
});

describe("R2 dependency jump", () => {
  const graph = rootsOf({ id: 3 });

  it("rewinds to just before the root", () => {
    expect(decideAt({ graph, key: "id" })).toEqual({
      decision: {
        strategy: "DEPENDENCY_JUMP",
        rollbackToStep: 3,
        nextStep: 3,
        contextReset: false,
        replayCost: 8,
        reason: {
          rule: "R2",
          key: "id",
          producer: 3,
          path: [],
          failureNumber: 1,
          replayCost: 8,
          budget: 80,
          budgetLeft: 72,
          considered: [{ strategy: "DEPENDENCY_JUMP", target: 3, replayCost: 8, refused: null }],
        },
      },
      counters: {
        failures: { 10: 1 },
        jumps: { 3: 1 },
        replayed: 8,
        resets: 0,
        furthestStep: 10,
      },
    });
  });

  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [16, 16],
  ])("with maxLocalDepth %i jumps to one root %i times", (maxLocalDepth, jumpsMax) => {
    const policy = { ...DEFAULT_POLICY, maxLocalDepth };
    const left = countersAt({ furthestStep: 10, jumps: { 3: jumpsMax - 1 } });
    const used = countersAt({ furthestStep: 10, jumps: { 3: jumpsMax } });
    const again = decideAt({ policy, graph, key: "id", counters: left });
    expect(again.decision.strategy).toBe("DEPENDENCY_JUMP");
    const refused = decideAt({ policy, graph, key: "id", counters: used }).decision;
    expect(refused.strategy).not.toBe("DEPENDENCY_JUMP");
    expect(refused.reason.considered[0]?.refused).toMatch(/^jumps used up/);
  });

  it("counts jumps per root", () => {
    const counters = countersAt({ furthestStep: 10, jumps: { 3: 2 } });
    const other = decideAt({ graph: rootsOf({ id: 4 }), key: "id", counters });
    expect(other.counters.jumps).toEqual({ 3: 2, 4: 1 });
  });

  it.each([10, 11, 0, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY, "3", null])(
    "takes the root %s, which is no step before K, for not traced",
    (root) => {
      const { decision } = decideAt({ graph: rootsOf({ id: root }), key: "id" });
      expect(decision).toMatchObject({ strategy: "LOCAL_BACKTRACK", rollbackToStep: 9 });
      expect(decision.reason).toMatchObject({ key: "id", producer: null });
    },
  );
});

describe("R3 local backtrack", () => {
  it.each([
    [1, 9, 2],
    [2, 8, 3],
  ])("goes d = %i steps back", (d, target, cost) => {
    const counters = countersAt({ furthestStep: 10, failures: { 10: d - 1 } });
    const { decision } = decideAt({ counters });
    expect(decision).toMatchObject({
      strategy: "LOCAL_BACKTRACK",
      rollbackToStep: target,
      nextStep: target,
      replayCost: cost,
      contextReset: false,
    });
    expect(decision.reason.rule).toBe("R3");
  });

  it("never goes before step 1", () => {
    const counters = countersAt({ furthestStep: 2, failures: { 2: 1 } });
    expect(decideAt({ step: 2, counters }).decision).toMatchObject({
      rollbackToStep: 1,
      replayCost: 2,
    });
    const first = decideAt({ step: 1, counters: initialCounters() });
    expect(first.decision).toMatchObject({ rollbackToStep: 1, replayCost: 1 });
  });

  it("is what a jump that is used up falls through to", () => {
    const counters = countersAt({ furthestStep: 10, jumps: { 3: 2 } });
    const { decision } = decideAt({ graph: rootsOf({ id: 3 }), key: "id", counters });
    expect(decision).toMatchObject({ strategy: "LOCAL_BACKTRACK", rollbackToStep: 9 });
    expect(decision.reason).toMatchObject({ key: "id", producer: 3 });
  });

  it("ends with failure maxLocalDepth + 1; depth 0 allows none", () => {
    const counters = countersAt({ furthestStep: 10, failures: { 10: 2 } });
    expect(decideAt({ counters }).decision.strategy).toBe("GLOBAL_RESET");
    const policy = { ...DEFAULT_POLICY, maxLocalDepth: 0 };
    expect(decideAt({ policy }).decision.strategy).toBe("GLOBAL_RESET");
  });
});

describe("R4 replay budget", () => {
  it("lets the budget be spent to the last step", () => {
    const counters = countersAt({ furthestStep: 10, replayed: 78 });
    const { decision, counters: after } = decideAt({ counters });
    expect(decision.strategy).toBe("LOCAL_BACKTRACK");
    expect(decision.reason.budgetLeft).toBe(0);
    expect(after.replayed).toBe(80);
  });

  it("escalates a jump over budget and does not try the cheaper backtrack", () => {
    const counters = countersAt({ furthestStep: 10, replayed: 78 });
    const { decision } = decideAt({ graph: rootsOf({ id: 3 }), key: "id", counters });
    expect(decision.strategy).toBe("GLOBAL_RESET");
    expect(decision.reason.considered.map((one) => one.strategy)).toEqual([
      "DEPENDENCY_JUMP",
      "GLOBAL_RESET",
    ]);
    expect(decision.reason.considered[0]?.refused).toBe("over budget: costs 8, 2 left");
  });

  it("escalates a backtrack over budget", () => {
    const counters = countersAt({ furthestStep: 10, replayed: 79 });
    expect(decideAt({ counters }).decision.strategy).toBe("GLOBAL_RESET");
  });

  it("pays nothing for a refused candidate", () => {
    const counters = countersAt({ furthestStep: 10, replayed: 79, resets: 1 });
    expect(decideAt({ counters }).counters).toMatchObject({ replayed: 79, jumps: {} });
  });

  it("compares with the budget of N after the failure was counted", () => {
    const counters = countersAt({ furthestStep: 1, replayed: 28 });
    expect(decideAt({ step: 5, counters }).decision.reason).toMatchObject({
      budget: 30,
      budgetLeft: 0,
    });
  });
});

describe("R6 escalation", () => {
  const spent = { furthestStep: 10, failures: { 10: 2, 4: 1 }, jumps: { 3: 1 }, replayed: 9 };

  it("resets to the initial state and begins an epoch; N is kept", () => {
    const { decision, counters } = decideAt({ counters: countersAt(spent) });
    expect(decision).toMatchObject({
      strategy: "GLOBAL_RESET",
      rollbackToStep: 0,
      nextStep: 1,
      contextReset: true,
      replayCost: 0,
    });
    expect(decision.reason).toMatchObject({ rule: "R6", budget: 80, budgetLeft: 80 });
    expect(counters).toEqual({
      failures: {},
      jumps: {},
      replayed: 0,
      resets: 1,
      furthestStep: 10,
    });
  });

  it("aborts when no reset is left", () => {
    const { decision, counters } = decideAt({ counters: countersAt({ ...spent, resets: 1 }) });
    expect(decision).toMatchObject({
      strategy: "ABORT",
      rollbackToStep: 0,
      nextStep: 0,
      contextReset: false,
      replayCost: 0,
    });
    expect(decision.reason.considered.at(-2)).toMatchObject({
      strategy: "GLOBAL_RESET",
      refused: "resets used up: 1 of 1",
    });
    expect(counters.resets).toBe(1);
  });

  it("aborts at once with maxGlobalResets 0", () => {
    const policy = { ...DEFAULT_POLICY, maxGlobalResets: 0 };
    const { decision } = decideAt({ policy, counters: countersAt(spent) });
    expect(decision.strategy).toBe("ABORT");
  });
});

describe("R9a a failure found later", () => {
  it("costs the steps after K too, because they run again", () => {
    const { decision, counters } = decideAt({ step: 4, lastStep: 10 });
    expect(decision).toMatchObject({ rollbackToStep: 3, replayCost: 8 });
    expect(counters).toMatchObject({ replayed: 8, failures: { 4: 1 }, furthestStep: 10 });
  });

  it("refuses a last step before the failed one", () => {
    expect(() => decideAt({ step: 4, lastStep: 3 })).toThrow(PolicyError);
  });
});

describe("G3a composite hints", () => {
  it("uses the first key that traces, in the order of the hint", () => {
    const graph = rootsOf({ b: 5, c: 2 });
    const { decision } = decideAt({ graph, key: "a", keys: ["a", "b", "c"] });
    expect(decision).toMatchObject({ strategy: "DEPENDENCY_JUMP", rollbackToStep: 5 });
    expect(decision.reason.key).toBe("b");
  });

  it("works without a main key", () => {
    const { decision } = decideAt({ graph: rootsOf({ b: 5 }), key: null, keys: ["a", "b"] });
    expect(decision.rollbackToStep).toBe(5);
  });

  it("asks for the main key first, also when the list has another order", () => {
    const graph = rootsOf({ a: 6, b: 5 });
    expect(decideAt({ graph, key: "a", keys: ["b", "a"] }).decision.rollbackToStep).toBe(6);
  });

  it("does not go to the next key because the first one's jumps are used up", () => {
    const counters = countersAt({ furthestStep: 10, jumps: { 5: 2 } });
    const graph = rootsOf({ a: 5, b: 2 });
    const { decision } = decideAt({ graph, counters, key: "a", keys: ["a", "b"] });
    expect(decision.strategy).toBe("LOCAL_BACKTRACK");
  });
});

describe("purity", () => {
  it("gives the same decision for the same arguments", () => {
    const once = decideAt({ graph: rootsOf({ id: 3 }), key: "id" });
    expect(decideAt({ graph: rootsOf({ id: 3 }), key: "id" })).toEqual(once);
  });

  it("gives counters and decisions that JSON keeps exactly", () => {
    const result = decideAt({ graph: rootsOf({ id: 3 }), key: "id" });
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  it("carries the path when the graph can tell it", () => {
    const path = [{ from: 3, outputPath: "id", to: 10, inputPath: "id", explicit: true }];
    const graph = { findRootCause: () => null, traceRootCause: () => ({ root: 3, path }) };
    expect(decideAt({ graph, key: "id" }).decision.reason.path).toEqual(path);
  });
});

describe("misuse", () => {
  it.each([0, -1, 1.5, Number.NaN, 2 ** 31 + 1])("refuses step %d", (step) => {
    expect(() => decideAt({ step })).toThrow(PolicyError);
  });

  it("refuses a policy out of range, which could break R7", () => {
    const policy = { ...DEFAULT_POLICY, maxLocalDepth: Number.POSITIVE_INFINITY };
    expect(() => decideAt({ policy })).toThrow(PolicyError);
  });

  it.each([
    { replayed: Number.NaN },
    { replayed: -5 },
    { resets: -1 },
    { furthestStep: 1.5 },
    { failures: { 10: Number.NaN } },
  ])("refuses damaged counters, which could break R7: %o", (damage) => {
    const counters = countersAt({ furthestStep: 10, ...damage });
    expect(() => decideAt({ counters })).toThrow(PolicyError);
  });

  it("counts a success only forward and refuses one that is no step", () => {
    const counters = countersAt({ furthestStep: 10 });
    expect(recordSuccess(counters, 11).furthestStep).toBe(11);
    expect(recordSuccess(counters, 3)).toEqual(counters);
    expect(() => recordSuccess(counters, 0)).toThrow(PolicyError);
  });
});
