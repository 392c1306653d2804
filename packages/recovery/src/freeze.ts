// Owns the first stage of a recovery: stop new work (C4). The fence and the new state are one batch.

import { advanceRecovery } from "@agenttx/ledger";
import { AgentTxError, isAgentTxError } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { currentRevision, type WorkflowRecord } from "./workflow-record.js";
import { nameOf, readWorkflow, saveWorkflow } from "./workflow-store.js";

export interface FreezeRequest {
  readonly actor: string;
  readonly reason: string;
}

/**
 * Running -> Frozen; from any other state the workflow is returned as it is: it is stopped already.
 * Throws TRANSACTION_ENDED when its revision has committed, INVALID_ARGUMENT without actor or reason.
 */
export async function freeze(
  core: RecoveryCore,
  workflow: string,
  namespace: string,
  request: FreezeRequest,
): Promise<WorkflowRecord> {
  requireSaid(request);
  for (;;) {
    const record = await readWorkflow(core, workflow, namespace);
    if (record.recovery.state !== "Running") return record;
    await requireNotCommitted(core, record);
    try {
      return await fence(core, record, request);
    } catch (error) {
      // Another owner took it between reading and writing: what it is now decides.
      if (!isAgentTxError(error) || error.code !== "STALE_OWNER") throw error;
    }
  }
}

async function fence(
  core: RecoveryCore,
  record: WorkflowRecord,
  { actor, reason }: FreezeRequest,
): Promise<WorkflowRecord> {
  const nowMs = core.clock.now();
  const moved = advanceRecovery(
    record.recovery,
    { type: "request-recovery", actor, reason },
    nowMs,
  );
  if (!moved.ok) throw new AgentTxError("WORKFLOW_STATE", moved.rejection.message);
  const run = {
    requestedAtMs: nowMs,
    checkpoint: null,
    digest: null,
    nextTransaction: null,
    resume: true,
    tried: false,
    problem: null,
  };
  const frozen = { ...record, recovery: moved.record, run };
  const event = { event: "frozen", actor, why: reason } as const;
  return saveWorkflow(core, record, frozen, { event, hold: true });
}

function requireSaid({ actor, reason }: FreezeRequest): void {
  if (actor.trim() !== "" && reason.trim() !== "") return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "A recovery names who asks for it and why; nothing was changed.",
    { details: { field: actor.trim() === "" ? "actor" : "reason" } },
  );
}

/** What has committed is done: its effects are final, and a new workflow has to correct them. */
async function requireNotCommitted(core: RecoveryCore, record: WorkflowRecord): Promise<void> {
  const name = nameOf(record, currentRevision(record));
  if ((await core.revisions.facts(name)) !== null) return;
  const { status } = await core.engine.get(name.transaction, name);
  if (status !== "COMMITTED") return;
  throw new AgentTxError(
    "TRANSACTION_ENDED",
    `Workflow ${record.workflow} has committed; nothing was changed. A new workflow corrects it.`,
    { details: { workflow: record.workflow, transaction: name.transaction, status } },
  );
}
