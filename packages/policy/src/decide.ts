// Owns the entrance to a decision: checks the arguments, finds the cause, picks the profile.
//   D1 Pure: no clock, no chance, no await; arguments are read, never changed.
//   D2 The same arguments give the same decision.
//   D3 Nothing a graph, hint or agent says can break the bound R7.
import type { RollbackCounters, RollbackDecision } from "@agenttx/model";
import { PolicyError } from "./policy-error.js";
import { type Cause, decideClassic } from "./profiles/classic.js";
import { type PolicyInput, requirePolicy } from "./resolve-policy.js";
import type { RootCauseLookup } from "./root-cause-lookup.js";
import { isStepNumber, requireStepNumber } from "./step-number.js";

export interface DecideInput {
  readonly policy: PolicyInput;
  readonly counters: RollbackCounters;
  readonly graph: RootCauseLookup;
  /** K, the step that failed; from 1. */
  readonly step: number;
  /** The key that the hint blames, or null. */
  readonly key: string | null;
  /** All keys of a composite hint, in order; the first that traces is used (G3a). */
  readonly keys?: readonly string[] | undefined;
  /**
   * The last step that ran, when a failure of `step` is found later (R9a). A rewind then runs
   * the steps after K again too, so the replay cost counts from here. Default `step`.
   */
  readonly lastStep?: number | undefined;
}

export interface DecideResult {
  readonly decision: RollbackDecision;
  /** To be stored instead of the old ones, in the same batch as the rewind. */
  readonly counters: RollbackCounters;
}

/**
 * Picks exactly one strategy for a failure of step K (R1-R6). The graph must already hold step K
 * (its inputs are what a key is traced from) and is not changed: rewinding it is the caller's part.
 * Throws PolicyError for a step, policy or counter out of range; nothing is decided then.
 */
export function decide(input: DecideInput): DecideResult {
  const { policy, counters, graph, step, lastStep = step } = input;
  requirePolicy(policy);
  requireStepNumber("step", step);
  requireStepNumber("lastStep", lastStep);
  if (lastStep < step) throw new PolicyError("lastStep", "lastStep must not be before step.");
  const keys = candidateKeys(input.key, input.keys ?? []);
  const cause = firstCause(graph, step, keys);
  return decideClassic({ policy, counters, step, lastStep, key: keys[0] ?? null, cause });
}

function candidateKeys(key: string | null, keys: readonly string[]): readonly string[] {
  if (key === null) return keys;
  return [key, ...keys.filter((other) => other !== key)];
}

function firstCause(graph: RootCauseLookup, step: number, keys: readonly string[]): Cause | null {
  for (const key of keys) {
    const found = ask(graph, step, key);
    if (found !== null && isStepNumber(found.root) && found.root < step) return { key, ...found };
  }
  return null;
}

function ask(graph: RootCauseLookup, step: number, key: string) {
  if (graph.traceRootCause !== undefined) return graph.traceRootCause(step, key);
  const root = graph.findRootCause(step, key);
  return root === null ? null : { root, path: [] };
}
