// Owns the public list of @agenttx/policy: pure decisions, no I/O, no clock, no dependency.
export type {
  DependencyPathEdge,
  RollbackCandidate,
  RollbackCounters,
  RollbackDecision,
  RollbackPolicy,
  RollbackReason,
  RollbackStrategy,
} from "@agenttx/model";
export { initialCounters, recordSuccess } from "./counters.js";
export { type DecideInput, type DecideResult, decide } from "./decide.js";
export { explain } from "./explain.js";
export { DependencyGraph } from "./graph/dependency-graph.js";
export {
  EDGES_PER_STEP_MAX,
  NAME_CHARS_MAX,
  PATH_CHARS_MAX,
  PATH_SEGMENTS_MAX,
  SCALARS_PER_STEP_MAX,
  VALUES_VISITED_PER_STEP_MAX,
} from "./graph/limits.js";
export type { GraphReference, GraphStep } from "./graph/links.js";
export type { DependencyGraphJson, EdgeJson, StepJson } from "./graph/saved-graph.js";
export { PolicyError } from "./policy-error.js";
export { replayBudget } from "./replay-budget.js";
export {
  DEFAULT_POLICY,
  type PolicyInput,
  type PolicyOverrides,
  resolvePolicy,
} from "./resolve-policy.js";
export type { RootCause, RootCauseLookup } from "./root-cause-lookup.js";
export { STEP_NUMBER_MAX } from "./step-number.js";
