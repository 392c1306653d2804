// Owns the step from a plan to its execution (C5): compared with what is there, then classified. The
// coordinator takes the workflow with it: an earlier coordinator is fenced in the same batch.

import { advanceRecovery, takeOwnership } from "@agenttx/ledger";
import { AgentTxError } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { plain, planRecovery, type RecoveryPlan } from "./plan.js";
import type { WorkflowRecord } from "./workflow-record.js";
import { readWorkflow, saveWorkflow } from "./workflow-store.js";

export interface ApplyOptions {
  readonly actor: string;
  /** Goes on with the new revision when it has recovered. Default true. */
  readonly resume?: boolean;
}

/**
 * Frozen -> Compensating or Reconciliation. A plan that is being carried out, or was, changes nothing:
 * its answer may have been lost. Throws PLAN_CHANGED and WORKFLOW_STATE.
 */
export async function classify(
  core: RecoveryCore,
  plan: Pick<RecoveryPlan, "workflow" | "namespace" | "checkpoint" | "digest">,
  { actor, resume = true }: ApplyOptions,
): Promise<WorkflowRecord> {
  const record = await readWorkflow(core, plan.workflow, plan.namespace);
  if (record.run?.digest === plan.digest) return record;
  if (record.revisions.some(({ planDigest }) => planDigest === plan.digest)) return record;
  const { state } = record.recovery;
  if (state !== "Frozen" || record.run === null) throw notFrozen(record);
  const { revision, step } = plan.checkpoint;
  const { plan: now } = await planRecovery(core, record, { revision, step });
  if (now.digest !== plan.digest) throw planChanged(plan.workflow, plan.digest, now.digest);
  const undoable = now.undo.length + now.drop.length;
  const others = now.lookUp.length + now.cannot.length;
  const nowMs = core.clock.now();
  const moved = advanceRecovery(record.recovery, { type: "classify", undoable, others }, nowMs);
  if (!moved.ok) throw new AgentTxError("WORKFLOW_STATE", moved.rejection.message);
  const classified = {
    ...record,
    recovery: takeOwnership(moved.record, actor, nowMs),
    run: {
      ...record.run,
      checkpoint: { revision, step },
      digest: now.digest,
      nextTransaction: core.revisions.newTransactionId(),
      resume,
    },
  };
  const why = `Back to checkpoint "${now.checkpoint.name}": ${undoable} to undo or drop, ${others} to find out or for a person`;
  return saveWorkflow(core, record, classified, {
    event: { event: "classified", actor, why, data: plain(now) },
  });
}

function notFrozen(record: WorkflowRecord): AgentTxError {
  const { workflow, recovery } = record;
  return new AgentTxError(
    "WORKFLOW_STATE",
    `Workflow ${workflow} is ${recovery.state}; a plan is applied to a frozen one. Nothing was changed. Freeze it, and plan again.`,
    { details: { workflow, state: recovery.state } },
  );
}

function planChanged(workflow: string, given: string, expected: string): AgentTxError {
  return new AgentTxError(
    "PLAN_CHANGED",
    `What the plan of workflow ${workflow} is based on has changed since; nothing was changed. Look at the new plan, and apply that.`,
    { details: { workflow, given, expected } },
  );
}
