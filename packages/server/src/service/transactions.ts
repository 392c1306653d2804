// Owns the calls on one transaction: begin, step, commit, rollback, get, report.
// Each takes a decoded message and answers with one; refusals are thrown as AgentTxError.

import type { Transaction } from "@agenttx/engine";
import { AgentTxError, limits } from "@agenttx/model";
import {
  commitToWire,
  outcomeToWire,
  policyFromWire,
  rollbackToWire,
  type steps,
  type transactions,
  viewToWire,
} from "@agenttx/wire";
import { requireScope, requireTool } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { makePageToken, readCount } from "./page-token.js";
import { pageLength } from "./pages.js";

export function requireTransactionId(id: string): void {
  const bytes = Buffer.byteLength(id);
  if (bytes > 0 && bytes <= limits.TRANSACTION_ID_BYTES_MAX) return;
  throw new AgentTxError("INVALID_ARGUMENT", "`transaction_id` is missing or too long.", {
    details: { field: "transaction_id" },
  });
}

/** The handle, without a promise when it is in memory; NOT_FOUND also for another tenant's id. */
export function find(
  deps: ServiceDeps,
  context: CallContext,
  id: string,
): Transaction | Promise<Transaction> {
  requireTransactionId(id);
  const where = { namespace: context.principal.tenant };
  return deps.engine.opened(id, where) ?? deps.engine.resume(id, where);
}

/**
 * The handle of the owner with this fencing token; 0 = whoever asks. The handle writes for that owner
 * alone: storage refuses it when another takes the transaction meanwhile (C3).
 */
export function findOwned(
  deps: ServiceDeps,
  context: CallContext,
  request: { readonly transactionId: string; readonly fencingToken: bigint },
): Transaction | Promise<Transaction> {
  const { transactionId, fencingToken } = request;
  const found = find(deps, context, transactionId);
  if (!(found instanceof Promise)) return requireOwner(found, fencingToken);
  return found.then((tx) => requireOwner(tx, fencingToken));
}

function requireOwner(tx: Transaction, given: bigint): Transaction {
  if (given === 0n || given === tx.fencingToken) return tx;
  throw new AgentTxError(
    "STALE_OWNER",
    "Another owner has taken this workflow; nothing was changed. Acquire it, or leave it alone.",
    { details: { transaction: tx.id, given: `${given}` } },
  );
}

export async function begin(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.BeginTransactionRequest,
): Promise<transactions.BeginTransactionResponse> {
  requireScope(context.principal, "run");
  const { tenant } = context.principal;
  if (deps.draining()) {
    throw new AgentTxError("UNAVAILABLE", "The server is stopping; begin on another one.");
  }
  const release = deps.tenants.reserveTransaction(tenant);
  try {
    const tx = await deps.engine.begin({
      agentId: request.agentId,
      metadata: request.metadata,
      policy: policyFromWire(request.policy),
      isolation: isolationOf(request.isolation),
      namespace: tenant,
      ...given("requestId", request.requestId),
    });
    // A repeated begin answers with the first one, which may have steps by now.
    return { transactionId: tx.id, nextStepId: tx.nextStep };
  } finally {
    release();
  }
}

export async function step(
  deps: ServiceDeps,
  context: CallContext,
  request: steps.ExecuteStepRequest,
): Promise<steps.ExecuteStepResponse> {
  requireScope(context.principal, "run");
  requireTool(context.principal, request.toolName);
  const found = findOwned(deps, context, request);
  const tx = found instanceof Promise ? await found : found;
  const outcome = await tx.step(request.toolName, {}, stepOptions(request));
  return outcomeToWire(outcome);
}

export function stepOptions(
  request: Pick<steps.ExecuteStepRequest, "stepId" | "argumentsJson" | "rawContext" | "requestId">,
) {
  return {
    stepId: request.stepId,
    argumentsJson: request.argumentsJson,
    ...given("rawContext", request.rawContext),
    ...given("requestId", request.requestId),
  };
}

export async function commit(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.CommitTransactionRequest,
): Promise<transactions.CommitTransactionResponse> {
  requireScope(context.principal, "run");
  const tx = await findOwned(deps, context, request);
  return commitToWire(await tx.commit());
}

export async function rollback(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.RollbackTransactionRequest,
): Promise<transactions.RollbackTransactionResponse> {
  requireScope(context.principal, "run");
  const tx = await findOwned(deps, context, request);
  const { toStep = 0, reason } = request;
  if (toStep > 0)
    return rollbackToWire(await tx.rollback(toStep, given("requestId", request.requestId)));
  return rollbackToWire(await (reason === "" ? tx.abort() : tx.abort(reason)));
}

export async function reportFailure(
  deps: ServiceDeps,
  context: CallContext,
  request: steps.ReportFailureRequest,
): Promise<steps.ReportFailureResponse> {
  requireScope(context.principal, "run");
  const tx = await findOwned(deps, context, request);
  const outcome = await tx.reportFailure(request.stepId, {
    text: request.text,
    ...given("key", request.key),
    ...given("requestId", request.requestId),
  });
  return { outcome: outcomeToWire(outcome) };
}

export async function get(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.GetTransactionRequest,
): Promise<transactions.GetTransactionResponse> {
  requireScope(context.principal, "read");
  requireTransactionId(request.transactionId);
  const view = await deps.engine.get(request.transactionId, {
    namespace: context.principal.tenant,
  });
  const scope = `context:${context.principal.tenant}:${request.transactionId}`;
  const from = readCount(scope, request.contextPageToken);
  const end = from + pageLength(view.context, from, view.context.length, bytesOfContext);
  const truncated = end < view.context.length;
  const page = { ...view, context: view.context.slice(from, end) };
  const nextPageToken = truncated ? makePageToken(scope, String(end)) : "";
  return viewToWire(page, { truncated, nextPageToken });
}

function bytesOfContext(entry: { readonly rawContext: string }): number {
  return Buffer.byteLength(entry.rawContext) + 192;
}

/** proto3 has no absent text: "" means not given. */
export function given<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === "" ? {} : ({ [name]: value } as { [Key in Name]?: string });
}

function isolationOf(word: string): "read-committed" | "serializable" {
  if (word === "" || word === "read-committed") return "read-committed";
  if (word === "serializable") return word;
  throw new AgentTxError("INVALID_ARGUMENT", "`isolation` is read-committed or serializable.", {
    details: { field: "isolation" },
  });
}
