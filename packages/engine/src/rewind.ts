// Owns the rollbacks that a caller asks for: rollback(n), and a failure that is reported later.
import { cleanError } from "@agenttx/hints";
import {
  AgentTxError,
  type CleanHint,
  type RollbackOutcome,
  type StepOutcome,
} from "@agenttx/model";
import { rollbackOutcome } from "./outcomes.js";
import { requireActive } from "./refusals.js";
import { answerTo, requestDigest, requestReused } from "./requests.js";
import { beginRollback, NOTHING_PENDING } from "./rollback.js";
import { makeReady } from "./settle.js";
import { nextHeader, type OpenTransaction } from "./state.js";
import { failStep } from "./step/failure.js";

/** Rollbacks one transaction may ask for: with it, R7 holds for them too. */
export const MANUAL_ROLLBACKS_MAX = 1_000;

/**
 * Rewinds to before step `toStep` (>= 1); the transaction stays open. REQUIRES: the lock is held.
 */
export async function rollbackTo(
  open: OpenTransaction,
  toStep: number,
  requestId: string | null,
): Promise<RollbackOutcome> {
  requireStep(toStep);
  const digest = requestDigest("rollback", "", toStep);
  const first = requestId === null ? null : await firstRollback(open, requestId, digest);
  if (first !== null) return first;
  requireActive(open);
  await makeReady(open);
  requireActive(open);
  if (toStep > open.nextStep) throw notThere(toStep, open.nextStep);
  const { manualRollbacks } = open.header;
  if (manualRollbacks >= MANUAL_ROLLBACKS_MAX) throw tooMany();
  const pending = {
    ...NOTHING_PENDING,
    kind: "manual",
    step: open.nextStep,
    target: toStep,
    request: requestId === null ? null : { id: requestId, digest },
  } as const;
  const { header } = nextHeader(open, { manualRollbacks: manualRollbacks + 1 });
  const result = await beginRollback(open, pending, { header, audit: [] });
  return rollbackOutcome(pending, result);
}

async function firstRollback(open: OpenTransaction, requestId: string, digest: string) {
  const stored = await answerTo(open, requestId);
  if (stored === null) return null;
  if (stored.digest !== digest || stored.answer.kind !== "rollback") throw requestReused(requestId);
  return stored.answer.outcome;
}

function requireStep(toStep: number): void {
  if (Number.isSafeInteger(toStep) && toStep >= 1) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "rollback(n) takes a whole number from 1: it rewinds to before step n. Use abort to undo all and end.",
    { details: { field: "toStep" } },
  );
}

function notThere(toStep: number, next: number): AgentTxError {
  return new AgentTxError(
    "INVALID_ARGUMENT",
    `Step ${toStep} does not stand: step ${next} is next, and nothing was changed. A rollback is not redone; undone values are in history(), and new steps do the work again.`,
    { details: { field: "toStep", toStep, nextStep: next } },
  );
}

function tooMany(): AgentTxError {
  return new AgentTxError(
    "PAYLOAD_TOO_LARGE",
    `A transaction has at most ${MANUAL_ROLLBACKS_MAX} rollbacks by request; nothing was changed. Abort it.`,
    { details: { rollbacksMax: MANUAL_ROLLBACKS_MAX } },
  );
}

export interface ReportedFailure {
  /** The field that is wrong, when the caller knows it. */
  readonly key?: string;
  /** What is wrong, raw: it is cleaned like a tool's error. */
  readonly text: string;
  readonly requestId?: string;
}

/** Throws INVALID_ARGUMENT unless it is a report. */
export function requireReport(report: ReportedFailure): void {
  const { text, key } = (report ?? {}) as Partial<ReportedFailure>;
  if (typeof text === "string" && (key === undefined || typeof key === "string")) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "A reported failure has a text, and a key that is text or left out; nothing was changed.",
    { details: { field: "failure" } },
  );
}

/**
 * A step that worked turned out wrong: hints and policy run like for its failure, inside the same
 * budget (R9a). REQUIRES: the lock is held.
 */
export async function reportFailure(
  open: OpenTransaction,
  step: number,
  report: ReportedFailure,
): Promise<StepOutcome> {
  requireStep(step);
  const content = { step, key: report.key ?? null, text: report.text };
  const digest = requestDigest("report", "", content);
  const first = await firstReport(open, report, digest);
  if (first !== null) return first;
  requireActive(open);
  await makeReady(open);
  requireActive(open);
  const record = step < open.nextStep ? await open.graph.record(step) : null;
  if (record === null) throw notThere(step, open.nextStep);
  const { inputs, references } = await open.graph.inputsOf(record.a);
  return failStep(open, {
    step,
    tool: record.t,
    hint: reportedHint(report),
    inputs,
    references,
    argsText: JSON.stringify(record.a),
    reported: true,
    request: report.requestId === undefined ? null : { id: report.requestId, digest },
    digest,
  });
}

async function firstReport(open: OpenTransaction, report: ReportedFailure, digest: string) {
  if (report.requestId === undefined) return null;
  const stored = await answerTo(open, report.requestId);
  if (stored === null) return null;
  if (stored.digest !== digest || stored.answer.kind !== "outcome") {
    throw requestReused(report.requestId);
  }
  return { ...stored.answer.outcome, repeated: true };
}

/** The caller's key wins over the one that the text seems to name, if it can be shown (H6). */
function reportedHint(report: ReportedFailure): CleanHint {
  const hint = cleanError(report.text);
  const { key } = report;
  if (key === undefined || key === hint.key) return hint;
  const keyed = cleanError({ issues: [{ path: key.split("."), message: "Invalid value" }] });
  const keys = [key, ...hint.keys.filter((other) => other !== key)];
  return hint.key === null && hint.category === "other"
    ? { ...keyed, key, keys, rule: "reported" }
    : { ...hint, key, keys };
}
