// Owns the entrance of every operation on a transaction: joins an equal one that runs, refuses
// another, tells the idle reaper that somebody is here, forgets what has ended.
import type { CommitOutcome, RollbackOutcome, StepOutcome } from "@agenttx/model";
import { abortTransaction } from "./abort.js";
import { commitTransaction } from "./commit.js";
import { inProgress, type Operation } from "./lock.js";
import { requireEngineOpen, requireNotHeld, requireOwned } from "./refusals.js";
import { requestReused, requireRequestId } from "./requests.js";
import { type ReportedFailure, reportFailure, requireReport, rollbackTo } from "./rewind.js";
import { unfreeze } from "./settle.js";
import { type OpenTransaction, transactionKey } from "./state.js";
import { readStepRequest, type StepOptions, type StepRequest, stepDigest } from "./step/request.js";
import { runStep } from "./step/run.js";

export function stepOperation(
  open: OpenTransaction,
  tool: string,
  args: unknown,
  options: StepOptions,
): Promise<StepOutcome> {
  let request: StepRequest;
  try {
    request = readStepRequest(tool, args, options);
  } catch (error) {
    return Promise.reject(error);
  }
  const { running } = open.lock;
  if (running !== null) return joinStep(running, request);
  const fields = {
    kind: "step",
    step: request.stepId ?? open.nextStep,
    requestId: request.requestId,
    request,
  } as const;
  return run(open, fields, (operation) => runStep(open, request, operation));
}

/** Same id and content, or the same step with the same content: one execution (P3). */
async function joinStep(running: Operation, request: StepRequest): Promise<StepOutcome> {
  const { requestId, stepId } = request;
  const other = running.request;
  if (running.kind !== "step" || other === null) throw inProgress(running);
  const sameId = requestId !== null && requestId === running.requestId;
  const sameStep = requestId === null && running.requestId === null && stepId === running.step;
  if (!sameId && !(sameStep && other.stepId !== null)) throw inProgress(running);
  if (stepDigest(request) !== stepDigest(other)) {
    if (requestId !== null) throw requestReused(requestId);
    throw inProgress(running);
  }
  // The running operation of kind "step" answers with a StepOutcome.
  const outcome = (await running.promise) as StepOutcome;
  return { ...outcome, repeated: true };
}

export async function reportOperation(
  open: OpenTransaction,
  step: number,
  report: ReportedFailure,
): Promise<StepOutcome> {
  requireReport(report);
  if (report.requestId !== undefined) requireRequestId(report.requestId);
  const { running } = open.lock;
  if (running !== null) throw inProgress(running);
  const fields = { kind: "report", step, requestId: report.requestId ?? null } as const;
  return run(open, fields, () => reportFailure(open, step, report));
}

export async function rollbackOperation(
  open: OpenTransaction,
  toStep: number,
  requestId: string | null,
): Promise<RollbackOutcome> {
  if (requestId !== null) requireRequestId(requestId);
  const { running } = open.lock;
  if (running !== null) {
    if (running.kind !== "rollback" || running.step !== toStep) throw inProgress(running);
    // The running operation of kind "rollback" answers with a RollbackOutcome.
    return (await running.promise) as RollbackOutcome;
  }
  const fields = { kind: "rollback", step: toStep, requestId } as const;
  return run(open, fields, () => rollbackTo(open, toStep, requestId));
}

export async function commitOperation(open: OpenTransaction): Promise<CommitOutcome> {
  const { running } = open.lock;
  if (running !== null) {
    if (running.kind !== "commit") throw inProgress(running);
    return (await running.promise) as CommitOutcome;
  }
  return run(open, { kind: "commit", step: 0, requestId: null }, () => commitTransaction(open));
}

/** Tells a running step to stop, waits for it, then undoes everything (P5). */
export async function abortOperation(
  open: OpenTransaction,
  reason: string,
): Promise<RollbackOutcome> {
  requireNotHeld(open);
  for (let running = open.lock.running; running !== null; running = open.lock.running) {
    if (running.kind === "abort") return (await running.promise) as RollbackOutcome;
    running.stop?.(new Error("The transaction is being aborted"));
    await open.lock.idle();
  }
  const fields = { kind: "abort", step: 0, requestId: null } as const;
  return run(open, fields, () => abortTransaction(open, reason));
}

/** Goes on with a frozen transaction if it can; waits for what is running. */
export async function unfreezeOperation(open: OpenTransaction): Promise<boolean> {
  // Another one that waited may have come first.
  while (open.lock.running !== null) await open.lock.idle();
  return run(open, { kind: "settle", step: 0, requestId: null }, () => unfreeze(open));
}

type OperationFields = Pick<Operation, "kind" | "step" | "requestId"> &
  Partial<Pick<Operation, "request">>;

function run<Result>(
  open: OpenTransaction,
  fields: OperationFields,
  work: (operation: Operation) => Promise<Result>,
): Promise<Result> {
  try {
    requireEngineOpen(open.engine.closing);
    requireOwned(open);
  } catch (error) {
    return Promise.reject(error);
  }
  open.engine.alive.hold();
  return open.lock.run(fields, work, () => leave(open));
}

function leave(open: OpenTransaction): void {
  open.engine.alive.release();
  open.lastActiveMs = open.engine.clock.monotonic();
  const key = transactionKey(open.id, open.namespace);
  // A fenced entry has left the map already, and another may stand in its place.
  if (open.ended !== null && open.engine.open.get(key) === open) open.engine.open.delete(key);
}
