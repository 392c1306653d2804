// Goal: a policy is complete, in range and what the caller meant (R8). Method: every field at,
// inside and outside its limits, set and unset.
import { describe, expect, it } from "vitest";
import { PolicyError } from "./policy-error.js";
import { DEFAULT_POLICY, type PolicyOverrides, resolvePolicy } from "./resolve-policy.js";

/** What a caller without types may send. */
function resolveUntyped(overrides: Record<string, unknown>) {
  return resolvePolicy(DEFAULT_POLICY, overrides as PolicyOverrides);
}

function refusedField(overrides: Record<string, unknown>): string {
  try {
    resolveUntyped(overrides);
  } catch (error) {
    if (error instanceof PolicyError) return error.field;
  }
  return "accepted";
}

describe("R8 policy", () => {
  it("has the documented defaults", () => {
    expect(DEFAULT_POLICY).toEqual({
      maxLocalDepth: 2,
      maxGlobalResets: 1,
      replayBudgetFactor: 2,
      profile: "classic",
    });
    expect(resolvePolicy(DEFAULT_POLICY)).toEqual(DEFAULT_POLICY);
  });

  it("overrides field by field and keeps the other defaults", () => {
    const defaults = { maxLocalDepth: 5, maxGlobalResets: 6, replayBudgetFactor: 7 };
    expect(resolvePolicy(defaults, { maxGlobalResets: 9 })).toEqual({
      maxLocalDepth: 5,
      maxGlobalResets: 9,
      replayBudgetFactor: 7,
      profile: "classic",
    });
  });

  it("takes 0 as a value and undefined as unset", () => {
    const policy = resolvePolicy(DEFAULT_POLICY, {
      maxLocalDepth: 0,
      maxGlobalResets: undefined,
    });
    expect(policy.maxLocalDepth).toBe(0);
    expect(policy.maxGlobalResets).toBe(1);
  });

  it.each([
    { maxLocalDepth: 0, maxGlobalResets: 0, replayBudgetFactor: 0.1 },
    { maxLocalDepth: 16, maxGlobalResets: 16, replayBudgetFactor: 1000 },
  ])("accepts the ends of the ranges: %o", (ends) => {
    expect(resolvePolicy(DEFAULT_POLICY, ends)).toMatchObject(ends);
  });

  it.each([
    ["maxLocalDepth", [-1, 17, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "2", null, true, {}]],
    ["maxGlobalResets", [-1, 17, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, true, []]],
    ["replayBudgetFactor", [0, 0.09, 1000.1, -2, Number.NaN, Number.POSITIVE_INFINITY, "2", null]],
    ["profile", ["", "Classic", null, 1, "adaptive"]],
  ])("refuses %s out of its range and names the field", (field, values) => {
    for (const value of values) expect(refusedField({ [field]: value })).toBe(field);
  });

  it("checks the defaults too", () => {
    expect(() => resolvePolicy({ ...DEFAULT_POLICY, maxLocalDepth: 99 })).toThrow(PolicyError);
  });

  it("refuses a field it does not know, which would be ignored otherwise", () => {
    expect(refusedField({ max_local_depth: 3 })).toBe("max_local_depth");
  });

  it("says that the adaptive profile does not exist yet", () => {
    expect(() => resolveUntyped({ profile: "adaptive" })).toThrow(
      'profile must be "classic": the profile "adaptive" does not exist in this version.',
    );
  });

  it("throws a RangeError, keeps the message short and leaves the arguments alone", () => {
    const overrides = Object.freeze({ profile: "x".repeat(10_000) });
    try {
      resolveUntyped(overrides);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      expect((error as PolicyError).message.length).toBeLessThan(120);
    }
  });

  it("returns a frozen policy of its own", () => {
    const overrides = { maxLocalDepth: 3 };
    const policy = resolvePolicy(DEFAULT_POLICY, overrides);
    overrides.maxLocalDepth = 4;
    expect(policy.maxLocalDepth).toBe(3);
    expect(Object.isFrozen(policy)).toBe(true);
    expect(Object.isFrozen(DEFAULT_POLICY)).toBe(true);
  });
});
