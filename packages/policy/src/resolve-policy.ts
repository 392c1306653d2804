// Owns the defaults and ranges of the policy (R8). 0 is a value; unset is not.
import type { RollbackPolicy } from "@agenttx/model";
import { PolicyError } from "./policy-error.js";

/** What a transaction has when nothing is set (R8). Frozen. */
export const DEFAULT_POLICY: RollbackPolicy = Object.freeze({
  maxLocalDepth: 2,
  maxGlobalResets: 1,
  replayBudgetFactor: 2,
  profile: "classic",
});

/** A complete policy as a caller may write it: without `profile` it is `classic`. */
export type PolicyInput = Omit<RollbackPolicy, "profile"> & {
  readonly profile?: RollbackPolicy["profile"] | undefined;
};

/** Some fields of a policy. `undefined` is unset; 0 is a value. */
export type PolicyOverrides = {
  readonly [Field in keyof RollbackPolicy]?: RollbackPolicy[Field] | undefined;
};

const FIELDS = Object.keys(DEFAULT_POLICY);

/**
 * Joins a transaction's overrides with the defaults, field by field, and checks the result (R8).
 * Returns a new frozen policy. Throws PolicyError for a value out of range, `null`, an unknown
 * field (a misspelt one would be ignored otherwise) and the profile `adaptive`.
 */
export function resolvePolicy(
  defaults: PolicyInput,
  overrides: PolicyOverrides = {},
): RollbackPolicy {
  refuseUnknownFields(defaults);
  refuseUnknownFields(overrides);
  const pick = <Field extends keyof RollbackPolicy>(field: Field) =>
    overrides[field] === undefined ? defaults[field] : overrides[field];
  const profile = pick("profile");
  const policy = {
    maxLocalDepth: pick("maxLocalDepth"),
    maxGlobalResets: pick("maxGlobalResets"),
    replayBudgetFactor: pick("replayBudgetFactor"),
    profile: profile === undefined ? "classic" : profile,
  };
  requirePolicy(policy);
  return Object.freeze(policy);
}

/** Throws PolicyError unless every field is within R8 and the profile is one that exists here. */
export function requirePolicy(
  policy: {
    readonly [Field in keyof RollbackPolicy]?: unknown;
  },
): asserts policy is PolicyInput {
  requireWhole("maxLocalDepth", policy.maxLocalDepth);
  requireWhole("maxGlobalResets", policy.maxGlobalResets);
  requireFactor(policy.replayBudgetFactor);
  requireProfile(policy.profile);
}

/** Throws PolicyError unless `value` is a replay budget factor: finite, 0.1..1000. */
export function requireFactor(value: unknown): asserts value is number {
  if (typeof value === "number" && value >= 0.1 && value <= 1000) return;
  throw new PolicyError(
    "replayBudgetFactor",
    `replayBudgetFactor must be a number from 0.1 to 1000, not ${shown(value)}.`,
  );
}

function requireWhole(field: "maxLocalDepth" | "maxGlobalResets", value: unknown): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 16) return;
  throw new PolicyError(
    field,
    `${field} must be a whole number from 0 to 16, not ${shown(value)}.`,
  );
}

function requireProfile(value: unknown): void {
  if (value === undefined || value === "classic") return;
  const why =
    value === "adaptive"
      ? 'the profile "adaptive" does not exist in this version'
      : `${shown(value)} is no profile`;
  throw new PolicyError("profile", `profile must be "classic": ${why}.`);
}

function refuseUnknownFields(fields: object): void {
  for (const field of Object.keys(fields)) {
    if (FIELDS.includes(field)) continue;
    const known = FIELDS.join(", ");
    throw new PolicyError(field, `${shown(field)} is no policy field; the fields are ${known}.`);
  }
}

/** Short and safe to print: the value may come from a request. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
