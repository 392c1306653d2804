// Owns starting, finding and taking workflows (C1, C3).

import type { BeginRevision, Transaction } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { checkpointWrite, firstCheckpoint } from "./checkpoint.js";
import type { RecoveryCore } from "./core.js";
import { takeOver } from "./ownership.js";
import { Workflow, type WorkflowSettings } from "./workflow.js";
import { workflowAudit } from "./workflow-audit.js";
import { currentRevision, type WorkflowRecord, workflowWrites } from "./workflow-record.js";
import { nameOf, readWorkflow, staleOwner } from "./workflow-store.js";

export interface StartWorkflow extends Omit<BeginRevision, "workflow"> {
  /** 1..128 printable characters without "/". Made by the engine's id source when omitted (P8). */
  readonly id?: string;
  /** What it is about, for people. */
  readonly name?: string;
  readonly namespace?: string;
  /** Who owns it first. Default: `agentId`. */
  readonly owner?: string;
}

/**
 * Starts a workflow, its first revision open. The same id again returns the workflow that is there.
 * Throws INVALID_ARGUMENT; nothing was begun then.
 */
export async function startWorkflow(
  core: RecoveryCore,
  settings: WorkflowSettings,
  options: StartWorkflow,
): Promise<Workflow> {
  const { id, name = "", namespace = "", owner, ...begin } = options;
  const workflow = id ?? core.revisions.newTransactionId();
  requireId(workflow);
  const known = id === undefined ? null : await readOrNull(core, workflow, namespace);
  if (known !== null) return openHandle(core, settings, known);
  const transaction = core.revisions.newTransactionId();
  const nowMs = core.clock.now();
  const record: WorkflowRecord = {
    workflow,
    namespace,
    name,
    begin: { ...begin, workflow },
    recovery: {
      workflow,
      state: "Running",
      revision: 1,
      owner: owner ?? begin.agentId ?? "",
      fencingToken: 1n,
      request: null,
      changedAtMs: nowMs,
    },
    revisions: [{ revision: 1, transaction, base: null, startedAtMs: nowMs, planDigest: null }],
    run: null,
    createdAtMs: nowMs,
    finished: null,
  };
  const revision = { transaction, namespace };
  const actor = record.recovery.owner;
  const event = { event: "started", actor, why: name } as const;
  const { audit } = workflowAudit(nowMs, record, revision, event);
  const first = checkpointWrite(workflow, firstCheckpoint(core, 1, []));
  const records = [...workflowWrites(record), first];
  const tx = await core.revisions.begin(revision, record.begin, { records, audit: [audit] });
  return new Workflow(core, record, tx, settings);
}

/** Another owner takes over: from now on storage refuses the one before, wherever it runs. */
export async function acquireWorkflow(
  core: RecoveryCore,
  settings: WorkflowSettings,
  workflow: string,
  namespace: string,
  owner: string,
): Promise<Workflow> {
  const record = await readWorkflow(core, workflow, namespace);
  if (record.recovery.state !== "Running") throw inRecovery(record);
  const taken = await takeOver(core, record, owner, "Ownership acquired");
  return openHandle(core, settings, taken);
}

/** A handle for the owner of that token. Throws STALE_OWNER, WORKFLOW_STATE, NOT_FOUND. */
export async function openWorkflow(
  core: RecoveryCore,
  settings: WorkflowSettings,
  workflow: string,
  namespace: string,
  fencingToken: bigint | null,
): Promise<Workflow> {
  const record = await readWorkflow(core, workflow, namespace);
  const now = record.recovery.fencingToken;
  if (fencingToken !== null && fencingToken !== now) throw staleOwner(workflow, fencingToken, now);
  if (record.recovery.state !== "Running") throw inRecovery(record);
  return openHandle(core, settings, record);
}

async function openHandle(
  core: RecoveryCore,
  settings: WorkflowSettings,
  record: WorkflowRecord,
): Promise<Workflow> {
  const name = nameOf(record, currentRevision(record));
  const transaction: Transaction = await core.engine.resume(name.transaction, name);
  return new Workflow(core, record, transaction, settings);
}

async function readOrNull(
  core: RecoveryCore,
  workflow: string,
  namespace: string,
): Promise<WorkflowRecord | null> {
  try {
    return await readWorkflow(core, workflow, namespace);
  } catch (error) {
    if (error instanceof AgentTxError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

const ID = /^[^\s/\p{C}]{1,128}$/u;

function requireId(id: string): void {
  if (ID.test(id)) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "A workflow id has 1..128 characters, without spaces, slashes and control characters; nothing was begun.",
    { details: { field: "id" } },
  );
}

function inRecovery({ workflow, recovery }: WorkflowRecord): AgentTxError {
  return new AgentTxError(
    "WORKFLOW_STATE",
    `Workflow ${workflow} is ${recovery.state}: its recovery has it. Nothing was changed. Go on when it is Running again.`,
    { details: { workflow, state: recovery.state } },
  );
}
