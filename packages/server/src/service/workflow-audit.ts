// Owns the audit of a workflow: the chains, or the stories, of its revisions in their order (C9, C13).
// Page by page: a slow reader holds nothing back but itself.

import type { RevisionEntry } from "@agenttx/model";
import type { workflows } from "@agenttx/wire";
import { requireScope } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { workflowId } from "./workflows.js";

const PAGE = 500;
const NO_HASH = Buffer.alloc(0);

/** A revision whose chain retention has removed has no entries. */
export async function* workflowAudit(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.GetWorkflowAuditRequest,
): AsyncGenerator<workflows.GetWorkflowAuditResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const { revisions } = await deps.recovery.workflows.get(workflowId(request), { namespace });
  for (const { revision, transaction: transactionId } of revisions) {
    const of = { revision, transactionId };
    if (request.history) {
      for (const entry of await deps.engine.history(transactionId, { namespace })) {
        const payloadJson = JSON.stringify(entry);
        yield { ...of, seq: BigInt(entry.seq), payloadJson, hash: NO_HASH };
      }
    } else yield* chain(deps, namespace, of);
  }
}

async function* chain(
  deps: ServiceDeps,
  namespace: string,
  of: { readonly revision: number; readonly transactionId: RevisionEntry["transaction"] },
): AsyncGenerator<workflows.GetWorkflowAuditResponse> {
  for (let fromSeq = 1; ; ) {
    const range = { namespace, fromSeq, limit: PAGE };
    const page = await deps.store.readAudit(of.transactionId, range);
    for (const { seq, payload, hash } of page) {
      const payloadJson = Buffer.from(payload).toString("utf8");
      yield { ...of, seq: BigInt(seq), payloadJson, hash: Buffer.from(hash) };
      fromSeq = seq + 1;
    }
    // A heavy page ends early: only an empty one is the last.
    if (page.length === 0) return;
  }
}
