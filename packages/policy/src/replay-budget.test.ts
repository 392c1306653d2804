// Goal: the budget is exact for every N (R5). Method: published values, and big integers as judge.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PolicyError } from "./policy-error.js";
import { replayBudget } from "./replay-budget.js";
import { DEFAULT_POLICY } from "./resolve-policy.js";
import { STEP_NUMBER_MAX } from "./step-number.js";

const bitLength = (n: number) => (n === 0 ? 0 : n.toString(2).length);

describe("R5 replay budget", () => {
  it.each([
    [0, 0],
    [1, 2],
    [2, 8],
    [3, 12],
    [4, 24],
    [5, 30],
    [7, 42],
    [8, 64],
    [10, 80],
    [50, 600],
    [1000, 20_000],
  ])("of N = %i is %i for c = 2", (furthestStep, budget) => {
    expect(replayBudget(DEFAULT_POLICY, furthestStep)).toBe(budget);
  });

  it("is exact on both sides of every power of two up to 2^31", () => {
    for (let power = 1; power <= 31; power += 1) {
      for (const n of [2 ** power - 1, 2 ** power, 2 ** power + 1]) {
        if (n > STEP_NUMBER_MAX) continue;
        expect(replayBudget({ replayBudgetFactor: 1 }, n)).toBe(n * bitLength(n));
      }
    }
  });

  it("is c * (N * bits) in this order, not rounded, for any c and N", () => {
    const factor = fc.double({ min: 0.1, max: 1000, noNaN: true });
    fc.assert(
      fc.property(factor, fc.integer({ min: 0, max: STEP_NUMBER_MAX }), (c, n) => {
        const exact = Number(BigInt(n) * BigInt(bitLength(n)));
        expect(replayBudget({ replayBudgetFactor: c }, n)).toBe(c * exact);
      }),
    );
    expect(replayBudget({ replayBudgetFactor: 0.1 }, 3)).toBe(0.1 * 6);
  });

  it("never shrinks when N grows, which the bound R7 rests on", () => {
    const step = fc.integer({ min: 0, max: STEP_NUMBER_MAX });
    fc.assert(
      fc.property(step, step, (a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        expect(replayBudget(DEFAULT_POLICY, less)).toBeLessThanOrEqual(
          replayBudget(DEFAULT_POLICY, more),
        );
      }),
    );
  });

  it.each([-1, 1.5, Number.NaN, STEP_NUMBER_MAX + 1, Number.POSITIVE_INFINITY])(
    "refuses N = %d",
    (n) => expect(() => replayBudget(DEFAULT_POLICY, n)).toThrow(PolicyError),
  );

  it("refuses a factor out of range, which would make it endless", () => {
    const endless = { replayBudgetFactor: Number.POSITIVE_INFINITY };
    expect(() => replayBudget(endless, 5)).toThrow(PolicyError);
    expect(() => replayBudget({ replayBudgetFactor: Number.NaN }, 5)).toThrow(PolicyError);
  });
});
