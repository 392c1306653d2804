// Owns what people and programs see of a workflow.

import type { WorkflowState } from "@agenttx/ledger";
import type { RecoveryCore } from "./core.js";
import { statusOf } from "./finish.js";
import { lineageOf, unsettledOf } from "./lineage.js";
import {
  type CheckpointRef,
  currentRevision,
  type RevisionEntry,
  type WorkflowRecord,
} from "./workflow-record.js";

export interface WorkflowView {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: WorkflowState;
  readonly revision: number;
  /** Of the current revision; FROZEN while its recovery holds it. */
  readonly transaction: string;
  readonly transactionStatus: string;
  readonly owner: string;
  readonly fencingToken: string;
  readonly revisions: readonly RevisionEntry[];
  /** The recovery under way; null while Running. */
  readonly recovery: {
    readonly actor: string;
    readonly reason: string;
    readonly requestedAtMs: number;
    readonly checkpoint: CheckpointRef | null;
    /** Effects that are still open: progress, and what is waited for. */
    readonly open: readonly string[];
    /** Why it does not go on although nothing is open. */
    readonly problem: string | null;
  } | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

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
            open: await openEffects(core, record),
            problem: run.problem,
          },
    createdAtMs: record.createdAtMs,
    changedAtMs: recovery.changedAtMs,
  };
}

async function openEffects(core: RecoveryCore, record: WorkflowRecord): Promise<readonly string[]> {
  const { open } = await unsettledOf(core, lineageOf(record), []);
  return open.map(({ effectId }) => effectId);
}
