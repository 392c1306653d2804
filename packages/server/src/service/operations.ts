// Owns the calls of operators: lists, effects, reconciliation, audit.

import { AgentTxError, type ResolutionKind, type TransactionStatus } from "@agenttx/model";
import {
  type effects,
  effectToWire,
  statusFromWire,
  summaryToWire,
  type transactions,
} from "@agenttx/wire";
import { requireScope } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { makePageToken, pageSize, readPageToken } from "./page-token.js";
import { requireTransactionId } from "./transactions.js";

export async function listTransactions(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.ListTransactionsRequest,
): Promise<transactions.ListTransactionsResponse> {
  requireScope(context.principal, "read");
  const statuses = request.statuses.map(readStatus).sort();
  const scope = `list:${statuses.join(",")}`;
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
  requireTransactionId(request.transactionId);
  const namespace = context.principal.tenant;
  // Throws NOT_FOUND for what this tenant has not, before anything is listed.
  await deps.engine.get(request.transactionId, { namespace });
  const all = await deps.engine.effects(request.transactionId, { namespace });
  const scope = `effects:${request.transactionId}`;
  const from = Number(readPageToken(scope, request.pageToken) ?? 0);
  const end = from + pageSize(request.pageSize);
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
  const after = readPageToken("reconciliation", request.pageToken);
  const limit = pageSize(request.pageSize);
  const page = await deps.engine.unresolved({
    limit,
    namespace: context.principal.tenant,
    ...(after === undefined ? {} : { after }),
  });
  const last = page.at(-1);
  return {
    effects: page.map(effectToWire),
    nextPageToken:
      page.length < limit || last === undefined
        ? ""
        : makePageToken("reconciliation", last.effectId),
  };
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
  const { name, tenant } = context.principal;
  const kind = KINDS.find((known) => known === request.kind);
  if (kind === undefined) {
    throw new AgentTxError("INVALID_ARGUMENT", `\`kind\` is one of ${KINDS.join(", ")}.`, {
      details: { field: "kind" },
    });
  }
  // Who it was is what the token says; without tokens it is what the caller says.
  const actor = name === "local" && request.actor !== "" ? request.actor : name;
  if (request.actor !== "" && request.actor !== actor) {
    throw new AgentTxError("PERMISSION_DENIED", "`actor` is not the owner of this token.", {
      details: { field: "actor" },
    });
  }
  const effect = await deps.engine.resolveEffect(
    request.effectId,
    { kind, actor, note: request.note },
    { namespace: tenant },
  );
  return { effect: effectToWire(effect) };
}

/** Entries of one transaction's chain, in order, page by page. */
export async function* audit(
  deps: ServiceDeps,
  context: CallContext,
  request: effects.GetAuditRequest,
): AsyncGenerator<effects.GetAuditResponse> {
  requireScope(context.principal, "read");
  requireTransactionId(request.transactionId);
  const namespace = context.principal.tenant;
  await deps.engine.get(request.transactionId, { namespace });
  let fromSeq = Math.max(1, Number(request.fromSeq));
  for (;;) {
    const page = await deps.store.readAudit(request.transactionId, {
      namespace,
      fromSeq,
      limit: 500,
    });
    for (const { seq, payload, hash } of page) {
      yield {
        seq: BigInt(seq),
        payloadJson: Buffer.from(payload).toString("utf8"),
        hash: Buffer.from(hash),
      };
      fromSeq = seq + 1;
    }
    if (page.length < 500) return;
  }
}
