// Owns what people and programs see of a workflow.

import type { WorkflowView } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { statusOf } from "./finish.js";
import { ledgersOnce, lineageOf, scopeOf, unsettledOf } from "./lineage.js";
import { currentRevision, type WorkflowRecord } from "./workflow-record.js";

export type { WorkflowView } from "@agenttx/model";

export async function viewOf(core: RecoveryCore, record: WorkflowRecord): Promise<WorkflowView> {
  const { recovery, run } = record;
  const current = currentRevision(record);
  return {
    id: record.workflow,
    namespace: record.namespace,
    name: record.name,
    metadata: record.begin.metadata ?? {},
    state: recovery.state,
    revision: current.revision,
    transaction: current.transaction,
    transactionStatus: record.finished?.status ?? (await statusOf(core, record)),
    owner: recovery.owner,
    fencingToken: `${recovery.fencingToken}`,
    revisions: record.revisions,
    recovery:
      run === null
        ? null
        : {
            actor: recovery.request?.actor ?? "",
            reason: recovery.request?.reason ?? "",
            requestedAtMs: run.requestedAtMs,
            checkpoint: run.checkpoint,
            ...(await progressOf(core, record)),
            problem: run.problem,
          },
    createdAtMs: record.createdAtMs,
    changedAtMs: recovery.changedAtMs,
  };
}

async function progressOf(core: RecoveryCore, record: WorkflowRecord) {
  const lineage = lineageOf(record);
  const checkpoint = record.run?.checkpoint ?? null;
  const scope = checkpoint === null ? [] : scopeOf(lineage, checkpoint);
  const { open, untried } = await unsettledOf(ledgersOnce(core), lineage, scope);
  return { open: open.map(({ effectId }) => effectId), untried };
}
