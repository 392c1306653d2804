// Goal: the bound R7. Method: agents that do what fast-check says, with graphs that answer
// anything, against `decide`; the exact account is checked after every execution:
//     executions of an epoch = (next step - 1) + replayed steps
// From it R7 follows for every prefix of a run, with the N reached so far: the next step is at
// most N + 1, replayed is at most the budget of N, and N and the budget never shrink.
import type { RollbackPolicy } from "@agenttx/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { initialCounters, recordSuccess } from "./counters.js";
import { decide } from "./decide.js";
import { replayBudget } from "./replay-budget.js";
import { DEFAULT_POLICY, resolvePolicy } from "./resolve-policy.js";

interface Move {
  readonly works: boolean;
  readonly key: string | null;
  /** What the graph answers for the key. */
  readonly root: number;
  /** 0: none. Else a failure of this many steps ago is reported afterwards (R9a). */
  readonly reportStepsAgo: number;
}

interface Run {
  ended: "abort" | "plan" | "moves";
  executions: number;
  bound: number;
}

interface Plan {
  readonly stepCount: number;
  /** A step that fails whatever the moves say; every run then ends. */
  readonly brokenStep?: number;
}

/** Runs a plan; `moves` decides what happens at each execution. */
function run(policy: RollbackPolicy, plan: Plan, moves: Iterator<Move>): Run {
  let counters = initialCounters();
  let next = 1;
  let executions = 0;
  let executionsInEpoch = 0;
  const bound = () => {
    const budget = replayBudget(policy, counters.furthestStep);
    return (counters.resets + 1) * (budget + counters.furthestStep);
  };
  const fail = (move: Move, step: number, lastStep: number): boolean => {
    const graph = { findRootCause: () => move.root };
    const result = decide({ policy, counters, graph, step, lastStep, key: move.key });
    counters = result.counters;
    next = result.decision.nextStep;
    if (result.decision.strategy === "GLOBAL_RESET") executionsInEpoch = 0;
    return result.decision.strategy !== "ABORT";
  };
  const ended = (how: Run["ended"]): Run => ({ ended: how, executions, bound: bound() });
  for (;;) {
    const { value: move, done } = moves.next();
    if (done === true) return ended("moves");
    executions += 1;
    executionsInEpoch += 1;
    if (move.works && next !== plan.brokenStep) {
      counters = recordSuccess(counters, next);
      next += 1;
      const last = next - 1;
      const reported = last - move.reportStepsAgo + 1;
      if (move.reportStepsAgo > 0 && reported >= 1 && !fail(move, reported, last)) {
        return ended("abort");
      }
    } else if (!fail(move, next, next)) {
      return ended("abort");
    }
    expect(executionsInEpoch).toBe(next - 1 + counters.replayed);
    expect(counters.replayed).toBeLessThanOrEqual(replayBudget(policy, counters.furthestStep));
    expect(executions).toBeLessThanOrEqual(bound());
    if (next > plan.stepCount) return ended("plan");
  }
}

const anyRoot = fc.oneof(
  fc.integer({ min: -1, max: 45 }),
  fc.constantFrom(1, 2, Number.NaN, 0.5, Number.POSITIVE_INFINITY, 2 ** 40),
);
const anyMove = fc.record<Move>({
  works: fc.boolean(),
  key: fc.constantFrom("id", null),
  root: anyRoot,
  reportStepsAgo: fc.constantFrom(0, 0, 0, 1, 2, 5, 30),
});
const anyPolicy = fc.record({
  maxLocalDepth: fc.oneof(fc.constantFrom(0, 16), fc.integer({ min: 0, max: 16 })),
  maxGlobalResets: fc.oneof(fc.constantFrom(0, 16), fc.integer({ min: 0, max: 16 })),
  replayBudgetFactor: fc.oneof(
    fc.constantFrom(0.1, 1000),
    fc.double({ min: 0.1, max: 1000, noNaN: true }),
  ),
});

function resolved(policy: Partial<RollbackPolicy>): RollbackPolicy {
  return resolvePolicy(DEFAULT_POLICY, policy);
}

describe("R7 bound", () => {
  it("holds after every execution of any agent, for any policy and graph", () => {
    fc.assert(
      fc.property(
        anyPolicy,
        fc.integer({ min: 1, max: 40 }),
        fc.array(anyMove, { maxLength: 400, size: "max" }),
        (policy, stepCount, moves) => {
          run(resolved(policy), { stepCount }, moves.values());
        },
      ),
      { numRuns: 300 },
    );
  });

  it("ends every agent that never gives up, within the bound of the furthest step", () => {
    const small = fc.record({
      maxLocalDepth: fc.integer({ min: 0, max: 4 }),
      maxGlobalResets: fc.integer({ min: 0, max: 3 }),
      replayBudgetFactor: fc.double({ min: 0.1, max: 4, noNaN: true }),
    });
    const hostile = fc.array(anyMove, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(small, fc.integer({ min: 1, max: 8 }), hostile, (policy, brokenStep, moves) => {
        const plan = { stepCount: brokenStep, brokenStep };
        const result = run(resolved(policy), plan, forever(moves));
        expect(result.ended).toBe("abort");
        expect(result.executions).toBeLessThanOrEqual(result.bound);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    { maxLocalDepth: 0, maxGlobalResets: 0, replayBudgetFactor: 0.1 },
    { maxLocalDepth: 16, maxGlobalResets: 16, replayBudgetFactor: 1000 },
    { maxLocalDepth: 16, maxGlobalResets: 16, replayBudgetFactor: 0.1 },
    { maxLocalDepth: 2, maxGlobalResets: 1, replayBudgetFactor: 2 },
  ])("ends a tool that never works, under %o", (limits) => {
    const policy = resolved(limits);
    for (const key of ["id", null]) {
      const move = { works: false, key, root: 1, reportStepsAgo: 0 };
      const working = { ...move, works: true };
      const plan = { stepCount: 12, brokenStep: 12 };
      const result = run(policy, plan, forever([working, move]));
      expect(result.ended).toBe("abort");
      expect(result.executions).toBeLessThanOrEqual(
        (limits.maxGlobalResets + 1) * (replayBudget(policy, 12) + 12),
      );
    }
  });

  it("is met with equality, so it cannot be made tighter", () => {
    // c * N * bits = 1 with N = 1: one backtrack, then the second failure ends the epoch.
    const policy = resolved({ replayBudgetFactor: 1, maxGlobalResets: 3 });
    const failing = { works: false, key: null, root: 0, reportStepsAgo: 0 };
    const result = run(policy, { stepCount: 1 }, forever([failing]));
    expect(result).toEqual({ ended: "abort", executions: 8, bound: 8 });
  });
});

function* forever(moves: readonly Move[]): Generator<Move> {
  for (;;) yield* moves;
}
