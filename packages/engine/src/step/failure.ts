// Owns what happens when a step has failed: hint, constraint, decision, rollback (R1-R10, E10).
import { cleanError } from "@agenttx/hints";
import type { CleanHint, JsonValue, RollbackDecision, StepOutcome } from "@agenttx/model";
import { decide, recordSuccess } from "@agenttx/policy";
import type { AuditRecord } from "../audit.js";
import { addConstraint } from "../constraints.js";
import type { Header, PendingRollback } from "../header.js";
import { type RollbackResult, stepOutcome } from "../outcomes.js";
import { beginRollback, freezeRollback, NOTHING_PENDING } from "../rollback.js";
import { hasEffects, type OpenTransaction, tell } from "../state.js";
import type { FailureCause } from "./failure-cause.js";
import type { StepReference } from "./references.js";

/** A failed step, or one that worked and was reported wrong (R9a). */
export interface StepFailure {
  readonly step: number;
  readonly tool: string;
  readonly hint: CleanHint;
  readonly inputs: JsonValue;
  readonly references: readonly StepReference[];
  readonly argsText: string;
  readonly reported: boolean;
  readonly request: PendingRollback["request"];
  readonly digest: string;
}

/** Edges kept in a stored decision: enough for people, bounded for the header (I1 of header.ts). */
const PATH_EDGES_MAX = 32;

export function hintOf(cause: FailureCause): CleanHint {
  return "hint" in cause ? cause.hint : cleanError(cause.error);
}

/** Decides and rolls back. The answer is durable with what it says. */
export async function failStep(open: OpenTransaction, failure: StepFailure): Promise<StepOutcome> {
  const { step, tool, hint } = failure;
  tell(open, "step-failed", step, tool, { category: hint.category, key: hint.key });
  const { decision, header } = await decideFailure(open, failure);
  tell(open, "decision", step, tool, {
    strategy: decision.strategy,
    rollbackToStep: decision.rollbackToStep,
  });
  const at = open.engine.clock.now();
  const pending = pendingOf(failure, decision);
  const result = await beginRollback(open, pending, {
    header,
    failureDigest: failure.digest,
    audit: [failedEntry(failure, at), { k: "decision", at, s: step, decision }],
  });
  return stepOutcome(pending, result, open.header.constraints);
}

/** Freezes before a decision: the lookup comes before hints and policy (E5). */
export async function freezeUndecided(
  open: OpenTransaction,
  failure: StepFailure,
  unresolved: readonly string[],
): Promise<StepOutcome> {
  const { step, tool, hint } = failure;
  tell(open, "step-failed", step, tool, { category: hint.category, key: hint.key });
  for (const effect of unresolved) tell(open, "effect-unresolved", step, tool, { effect });
  const pending: PendingRollback = {
    ...NOTHING_PENDING,
    kind: "undecided",
    step,
    tool,
    target: step,
    hint,
    argsText: failure.argsText,
    request: failure.request,
  };
  const result: RollbackResult = {
    kind: "frozen",
    writesReverted: 0,
    compensationsRun: 0,
    errors: [],
    unresolved,
    latencyMs: 0,
  };
  await freezeRollback(open, pending, result, [], failure.digest);
  return stepOutcome(pending, result, open.header.constraints);
}

async function decideFailure(
  open: OpenTransaction,
  failure: StepFailure,
): Promise<{ decision: RollbackDecision; header: Partial<Header> }> {
  const { step, hint, reported } = failure;
  const lastStep = reported ? open.nextStep - 1 : step;
  const graph = await open.graph.upTo(reported ? lastStep : step - 1, reported ? null : failure);
  try {
    const { policy, constraints, counters } = open.header;
    const ran = open.nextStep - 1;
    const { decision, counters: next } = decide({
      policy,
      counters: ran === 0 ? counters : recordSuccess(counters, ran),
      graph,
      step,
      lastStep,
      key: hint.key,
      keys: hint.keys,
    });
    const known = addConstraint(constraints, hint, open.engine.settings.constraintsMax);
    return { decision: bounded(decision), header: { counters: next, constraints: known } };
  } finally {
    open.graph.rewindTo(reported ? open.nextStep : step);
  }
}

function pendingOf(failure: StepFailure, decision: RollbackDecision): PendingRollback {
  const aborts = decision.strategy === "ABORT";
  return {
    ...NOTHING_PENDING,
    kind: aborts ? "abort" : "decision",
    step: failure.step,
    tool: failure.tool,
    target: decision.rollbackToStep,
    hint: failure.hint,
    decision,
    lastStep: null,
    request: failure.request,
    reason: aborts ? "REPLAY_LIMIT_REACHED" : null,
    endStatus: aborts ? "FAILED" : "ROLLED_BACK",
  };
}

function failedEntry(failure: StepFailure, at: number): AuditRecord {
  const { step, tool, hint, reported } = failure;
  const entry = { k: "failed", at, s: step, t: tool, hint } as const;
  return reported ? { ...entry, reported: true } : entry;
}

function bounded(decision: RollbackDecision): RollbackDecision {
  const { reason } = decision;
  if (reason.path.length <= PATH_EDGES_MAX) return decision;
  return { ...decision, reason: { ...reason, path: reason.path.slice(0, PATH_EDGES_MAX) } };
}

/** Ids of this transaction's effects that nobody knows the fate of. */
export async function unsettledEffects(open: OpenTransaction): Promise<readonly string[]> {
  if (!hasEffects(open.header)) return [];
  const effects = await open.engine.effects.listEffects(open.id, open.namespace);
  return effects.filter(({ state }) => UNSETTLED.includes(state)).map(({ effectId }) => effectId);
}

const UNSETTLED: readonly string[] = ["requested", "indeterminate", "compensating", "unresolved"];
