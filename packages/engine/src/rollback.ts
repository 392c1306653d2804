// Owns taking a transaction back, from the durable intention to the batch that completes it. Every
// rollback goes this way: a decision, rollback(n), an abort, a stopped step, and recovery of each.
//
//   K1 The intention is durable before the first effect is undone, so a crash continues it.
//   K2 Effects first, then state: state is restored only when nothing is unresolved (E8a); an
//      abort discards it and leaves what is unresolved to the ledger.
//   K3 Completion is one batch: state, header, counters, answer, audit.
//   K4 Compensation runs outside the caller's signal and deadline.
import type { RecordWrite } from "@agenttx/model";
import { type AuditRecord, encodeAudit } from "./audit.js";
import type { CompensationReport } from "./effects/contract.js";
import type { Header, PendingRollback } from "./header.js";
import { type RollbackResult, rollbackOutcome, stepOutcome } from "./outcomes.js";
import { answerRecord, LAST_FAILURE, type StoredAnswer } from "./requests.js";
import {
  type Ended,
  fenceOf,
  hasEffects,
  nextHeader,
  type OpenTransaction,
  tell,
} from "./state.js";
import { terminalRecord } from "./terminal.js";

export const NOTHING_PENDING: Omit<PendingRollback, "kind" | "step" | "target"> = {
  tool: null,
  hint: null,
  decision: null,
  lastStep: null,
  argsText: null,
  request: null,
  reason: null,
  endStatus: "ROLLED_BACK",
  compensationsRun: 0,
};

/** Facts that become durable together with the intention. */
export interface RollbackStart {
  readonly header?: Partial<Header>;
  readonly audit: readonly AuditRecord[];
  /** Digest under which the last failure is kept, for repeats without a request id. */
  readonly failureDigest?: string | null;
}

/** Begins and completes a rollback. REQUIRES: the lock is held and nothing is pending. */
export async function beginRollback(
  open: OpenTransaction,
  pending: PendingRollback,
  start: RollbackStart,
): Promise<RollbackResult> {
  open.attempt = open.tx.beginAttempt();
  const audit = start.audit.map(encodeAudit);
  if (!hasEffects(open.header)) {
    // Nothing outside to undo: intention and completion are the same batch.
    open.header = { ...open.header, ...start.header };
    return completeRollback(open, pending, audit, start.failureDigest ?? null);
  }
  const { header, payload } = nextHeader(open, {
    ...start.header,
    status: "ROLLING_BACK",
    pending,
  });
  const records = open.receipt ?? [];
  await open.tx.apply({ fence: fenceOf(open), payload, records, audit });
  open.receipt = null;
  open.header = header;
  return completeRollback(open, pending, [], start.failureDigest ?? null);
}

/** Goes on with the rollback that the header describes: after a freeze, a crash or an error. */
export async function continueRollback(
  open: OpenTransaction,
  pending: PendingRollback,
): Promise<RollbackResult> {
  open.attempt = open.tx.beginAttempt();
  return completeRollback(open, pending, [], null);
}

async function completeRollback(
  open: OpenTransaction,
  pending: PendingRollback,
  audit: readonly Uint8Array[],
  failureDigest: string | null,
): Promise<RollbackResult> {
  const startedAt = open.engine.clock.monotonic();
  const report = await compensate(open, pending);
  const partial = {
    compensationsRun: pending.compensationsRun + report.run,
    errors: report.errors,
    unresolved: report.unresolved,
    latencyMs: open.engine.clock.monotonic() - startedAt,
  };
  const { onUnresolved } = open.engine.settings;
  const mustFreeze = report.unresolved.length > 0 && onUnresolved === "freeze";
  if (pending.kind === "abort") {
    const result = { ...partial, kind: "ended", writesReverted: open.writesSoFar } as const;
    return end(open, pending, result, audit, failureDigest);
  }
  if (mustFreeze) {
    const result = { ...partial, kind: "frozen", writesReverted: 0 } as const;
    return freezeRollback(open, pending, result, audit, failureDigest);
  }
  const kept = await writesBefore(open, pending.target);
  const result = { ...partial, kind: "rewound", writesReverted: open.writesSoFar - kept } as const;
  return restore(open, pending, result, { audit, failureDigest, kept, startedAt });
}

async function compensate(
  open: OpenTransaction,
  pending: PendingRollback,
): Promise<CompensationReport> {
  if (!hasEffects(open.header)) return { run: 0, errors: [], unresolved: [] };
  tell(open, "compensation-started", pending.step, pending.tool, { target: pending.target });
  const report = await open.engine.effects.compensate({
    tx: open.tx,
    transaction: open.id,
    namespace: open.namespace,
    // Step 0 holds what a revision inherited: only an abort takes that back.
    fromStep: pending.kind === "abort" ? 0 : Math.max(pending.target, 1),
    owner: open.owner,
  });
  tell(open, "compensation-finished", pending.step, pending.tool, {
    run: report.run,
    unresolved: report.unresolved.length,
  });
  return report;
}

/** Writes of the steps before `target`, from the record of the last of them. */
async function writesBefore(open: OpenTransaction, target: number): Promise<number> {
  if (target >= open.nextStep) return open.writesSoFar;
  return target <= 1 ? 0 : ((await open.graph.record(target - 1))?.w ?? 0);
}

/** State stays where it is until a person or a retry has settled the rest (E8a). */
export async function freezeRollback(
  open: OpenTransaction,
  pending: PendingRollback,
  result: RollbackResult,
  audit: readonly Uint8Array[],
  failureDigest: string | null,
): Promise<RollbackResult> {
  const waiting = { ...pending, compensationsRun: result.compensationsRun, request: null };
  const { header, payload } = nextHeader(open, { status: "FROZEN", pending: waiting });
  const { unresolved } = result;
  const frozen = encodeAudit({ k: "frozen", at: header.updatedAtMs, s: pending.step, unresolved });
  await open.tx.apply({
    fence: fenceOf(open),
    payload,
    records: answers(open, pending, result, failureDigest),
    audit: [...audit, frozen],
  });
  open.header = header;
  tell(open, "frozen", pending.step, pending.tool, { unresolved: unresolved.length });
  return result;
}

interface RestoreFacts {
  readonly audit: readonly Uint8Array[];
  readonly failureDigest: string | null;
  readonly kept: number;
  readonly startedAt: number;
}

async function restore(
  open: OpenTransaction,
  pending: PendingRollback,
  result: RollbackResult,
  facts: RestoreFacts,
): Promise<RollbackResult> {
  const { target } = pending;
  const nextStep = Math.max(target, 1);
  const { header, payload } = nextHeader(open, {
    status: "ACTIVE",
    pending: null,
    group: open.header.group + 1,
  });
  const at = header.updatedAtMs;
  const rewound = encodeAudit({ k: "rewound", at, s: pending.step, to: target, why: pending.kind });
  // Begin took snapshot 1 of the same state as snapshot 0, and step 1 needs it to stay.
  const restored = await open.tx.restoreSnapshot(nextStep, {
    fence: fenceOf(open),
    next: { step: nextStep },
    payload,
    records: answers(open, pending, result, facts.failureDigest),
    audit: [...facts.audit, rewound],
  });
  open.header = header;
  open.nextStep = nextStep;
  open.writesSoFar = facts.kept;
  open.undoFrom = null;
  open.graph.rewindTo(nextStep);
  const latencyMs = open.engine.clock.monotonic() - facts.startedAt;
  tell(open, "restored", pending.step, pending.tool, {
    target,
    nextStep,
    writesReverted: restored.writesReverted,
    latencyMs,
  });
  return { ...result, writesReverted: restored.writesReverted, latencyMs };
}

async function end(
  open: OpenTransaction,
  pending: PendingRollback,
  result: RollbackResult,
  audit: readonly Uint8Array[],
  failureDigest: string | null,
): Promise<RollbackResult> {
  const reason = pending.reason ?? "ABORTED";
  const status = pending.endStatus;
  const rollback = rollbackOutcome(pending, result);
  const ended: Ended = { status, reason, commit: null, rollback };
  const at = open.engine.clock.now();
  const entry = encodeAudit({ k: "abort", at, status, reason });
  await open.tx.discard({
    fence: fenceOf(open),
    records: [...answers(open, pending, result, failureDigest), terminalRecord(open, ended)],
    audit: [...audit, entry],
    storeAudit: [Buffer.from(JSON.stringify({ k: "abort", tx: open.id, at, status, reason }))],
  });
  open.ended = ended;
  open.undoFrom = null;
  tell(open, "aborted", pending.step, pending.tool, { status, reason });
  return result;
}

/** The answer's records, for the batch that makes it true (K3). */
function answers(
  open: OpenTransaction,
  pending: PendingRollback,
  result: RollbackResult,
  failureDigest: string | null,
): RecordWrite[] {
  const records: RecordWrite[] = [];
  const answer = storedAnswer(open, pending, result);
  if (pending.request !== null) {
    records.push(answerRecord(pending.request.id, pending.request.digest, answer));
  }
  if (failureDigest !== null && answer.kind === "outcome") {
    records.push(answerRecord(LAST_FAILURE, failureDigest, answer));
  }
  return records;
}

function storedAnswer(
  open: OpenTransaction,
  pending: PendingRollback,
  result: RollbackResult,
): StoredAnswer {
  const { step } = pending;
  if (pending.hint === null) {
    return { kind: "rollback", step, outcome: rollbackOutcome(pending, result) };
  }
  const outcome = stepOutcome(pending, result, open.header.constraints);
  return { kind: "outcome", step, attempt: open.attempt, outcome };
}
