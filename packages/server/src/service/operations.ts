// Owns the calls of operators: lists, effects, reconciliation, audit.

import {
  AgentTxError,
  type EffectRecord,
  type ReconciliationItem,
  type ResolutionKind,
  type TransactionStatus,
} from "@agenttx/model";
import {
  type effects,
  effectToWire,
  itemToWire,
  statusFromWire,
  summaryToWire,
  type transactions,
} from "@agenttx/wire";
import { actorOf, requireScope } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { makePageToken, pageSize, readCount, readPageToken } from "./page-token.js";
import { pageLength } from "./pages.js";
import { requireTransactionId } from "./transactions.js";
import { workflowId } from "./workflows.js";

export async function listTransactions(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.ListTransactionsRequest,
): Promise<transactions.ListTransactionsResponse> {
  requireScope(context.principal, "read");
  const statuses = request.statuses.map(readStatus).sort();
  const scope = `list:${context.principal.tenant}:${statuses.join(",")}`;
  const limit = pageSize(request.pageSize);
  let after = readPageToken(scope, request.pageToken);
  const found: transactions.TransactionSummary[] = [];
  for (;;) {
    const page = await deps.engine.list({
      limit,
      namespace: context.principal.tenant,
      ...(statuses.length === 1 && statuses[0] !== undefined ? { status: statuses[0] } : {}),
      ...(after === undefined ? {} : { after }),
    });
    for (const view of page) {
      after = view.id;
      if (statuses.length > 0 && !statuses.includes(view.status)) continue;
      found.push(summaryToWire(view));
      if (found.length === limit) {
        return { transactions: found, nextPageToken: makePageToken(scope, after) };
      }
    }
    if (page.length < limit) return { transactions: found, nextPageToken: "" };
  }
}

function readStatus(word: string): TransactionStatus {
  try {
    return statusFromWire(word);
  } catch {
    throw new AgentTxError("INVALID_ARGUMENT", "`statuses` holds a word that is no status.", {
      details: { field: "statuses" },
    });
  }
}

export async function listEffects(
  deps: ServiceDeps,
  context: CallContext,
  request: effects.ListEffectsRequest,
): Promise<effects.ListEffectsResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  await requireTransaction(deps, context, request.transactionId);
  const all = await deps.engine.effects(request.transactionId, { namespace });
  const scope = `effects:${namespace}:${request.transactionId}`;
  const from = readCount(scope, request.pageToken);
  const end = from + pageLength(all, from, pageSize(request.pageSize), bytesOfEffect);
  return {
    effects: all.slice(from, end).map(effectToWire),
    nextPageToken: end < all.length ? makePageToken(scope, String(end)) : "",
  };
}

export async function listReconciliation(
  deps: ServiceDeps,
  context: CallContext,
  request: effects.ListReconciliationRequest,
): Promise<effects.ListReconciliationResponse> {
  requireScope(context.principal, "read");
  const { tenant } = context.principal;
  if (request.workflowId !== "") return itemsOfWorkflow(deps, tenant, request);
  const scope = `reconciliation:${tenant}`;
  const after = readPageToken(scope, request.pageToken);
  const limit = pageSize(request.pageSize);
  const found = await deps.engine.unresolved({
    limit,
    namespace: tenant,
    ...(after === undefined ? {} : { after }),
  });
  const page = found.slice(0, pageLength(found, 0, limit, bytesOfEffect));
  const last = page.at(-1);
  const ended = last === undefined || (page.length === found.length && found.length < limit);
  return {
    effects: page.map(effectToWire),
    nextPageToken: ended ? "" : makePageToken(scope, last.effectId),
    items: [],
  };
}

/** What is open in one workflow, with its evidence (C6). */
async function itemsOfWorkflow(
  deps: ServiceDeps,
  namespace: string,
  request: effects.ListReconciliationRequest,
): Promise<effects.ListReconciliationResponse> {
  const id = workflowId(request);
  const scope = `reconciliation:${namespace}:${id}`;
  const from = readCount(scope, request.pageToken);
  const all = await deps.recovery.reconciliation.list(id, { namespace });
  const end = from + pageLength(all, from, pageSize(request.pageSize), bytesOfItem);
  const page = all.slice(from, end);
  return {
    effects: page.map(({ effect }) => effectToWire(effect)),
    nextPageToken: end < all.length ? makePageToken(scope, String(end)) : "",
    items: page.map(itemToWire),
  };
}

/** The effect stands in the answer twice. */
function bytesOfItem({ effect, evidence }: ReconciliationItem): number {
  return bytesOfEffect(effect) * 2 + JSON.stringify(evidence).length * 2;
}

function bytesOfEffect({ request, receipt }: EffectRecord): number {
  return JSON.stringify([request, receipt]).length * 2 + 1_024;
}

const KINDS: readonly ResolutionKind[] = [
  "happened",
  "did-not-happen",
  "compensated-by-hand",
  "accepted-as-is",
  "retry",
];

export async function resolveEffect(
  deps: ServiceDeps,
  context: CallContext,
  request: effects.ResolveEffectRequest,
): Promise<effects.ResolveEffectResponse> {
  requireScope(context.principal, "operate");
  const { tenant } = context.principal;
  const kind = KINDS.find((known) => known === request.kind);
  if (kind === undefined) {
    throw new AgentTxError("INVALID_ARGUMENT", `\`kind\` is one of ${KINDS.join(", ")}.`, {
      details: { field: "kind" },
    });
  }
  const actor = actorOf(context, request.actor);
  const effect = await deps.engine.resolveEffect(
    request.effectId,
    { kind, actor, note: request.note },
    { namespace: tenant },
  );
  return { effect: effectToWire(effect) };
}

/** Entries of one transaction's chain, in order, page by page; or its story (`history`). */
export async function* audit(
  deps: ServiceDeps,
  context: CallContext,
  request: effects.GetAuditRequest,
): AsyncGenerator<effects.GetAuditResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  await requireChain(deps, context, request.transactionId);
  let fromSeq = readSeq(request.fromSeq);
  if (request.history) {
    for (const entry of await deps.engine.history(request.transactionId, { namespace })) {
      if (entry.seq < fromSeq) continue;
      yield { seq: BigInt(entry.seq), payloadJson: JSON.stringify(entry), hash: NO_HASH };
    }
    return;
  }
  for (;;) {
    const page = await deps.store.readAudit(request.transactionId, {
      namespace,
      fromSeq,
      limit: AUDIT_PAGE,
    });
    for (const { seq, payload, hash } of page) {
      yield {
        seq: BigInt(seq),
        payloadJson: Buffer.from(payload).toString("utf8"),
        hash: Buffer.from(hash),
      };
      fromSeq = seq + 1;
    }
    // A heavy page ends early: only an empty one is the last.
    if (page.length === 0) return;
  }
}

const AUDIT_PAGE = 500;
const NO_HASH = Buffer.alloc(0);

function readSeq(given: bigint): number {
  if (given <= BigInt(Number.MAX_SAFE_INTEGER)) return Math.max(1, Number(given));
  throw new AgentTxError("INVALID_ARGUMENT", "`from_seq` is too large.", {
    details: { field: "from_seq" },
  });
}

/** The audit outlives the terminal record (C10): whoever has a chain, may read it. */
async function requireChain(deps: ServiceDeps, context: CallContext, id: string): Promise<void> {
  requireTransactionId(id);
  const range = { namespace: context.principal.tenant, limit: 1 };
  if ((await deps.store.readAudit(id, range)).length > 0) return;
  await requireTransaction(deps, context, id);
}

/** Throws NOT_FOUND for what this tenant has not. */
export async function requireTransaction(
  deps: ServiceDeps,
  context: CallContext,
  id: string,
): Promise<void> {
  requireTransactionId(id);
  await deps.engine.get(id, { namespace: context.principal.tenant });
}
