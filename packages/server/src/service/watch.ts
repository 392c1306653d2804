// Owns what a watcher may see: events of its own tenant, of one transaction or of all.

import type { EngineEvent } from "@agenttx/engine";
import type { transactions } from "@agenttx/wire";
import { requireScope } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { requireTransaction } from "./operations.js";

/** The filter of a watch. Throws NOT_FOUND for a transaction that this tenant has not. */
export async function watchFilter(
  deps: ServiceDeps,
  context: CallContext,
  request: transactions.WatchTransactionsRequest,
): Promise<(event: EngineEvent) => boolean> {
  requireScope(context.principal, "read");
  const { tenant } = context.principal;
  const { transactionId } = request;
  if (transactionId === "") return (event) => event.namespace === tenant;
  await requireTransaction(deps, context, transactionId);
  return (event) => event.namespace === tenant && event.transaction === transactionId;
}

export function eventToWire(
  event: EngineEvent,
  dropped: number,
): transactions.WatchTransactionsResponse {
  const data = Object.entries(event.data).map(([name, value]) => [name, String(value)] as const);
  return {
    kind: event.kind,
    transactionId: event.transaction,
    stepId: event.step,
    toolName: event.tool ?? "",
    atMs: BigInt(Math.round(event.atMs)),
    data: Object.fromEntries(data),
    dropped,
  };
}
