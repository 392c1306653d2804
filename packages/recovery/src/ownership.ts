// Owns how a workflow changes hands (C3): the fencing token grows, storage refuses what carries an
// older one, and what the new owner has to know is read after that.
//
//   O1 The current revision's header comes first: whoever raises it has won.
//   O2 A fork that an earlier coordinator may still be about to release is raised next. When it was
//      released meanwhile, that was the end of the recovery, and the new owner takes that.

import { advanceRecovery, takeOwnership } from "@agenttx/ledger";
import { AgentTxError } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import type { WorkflowRecord } from "./workflow-record.js";
import { nameOf, saveWorkflow } from "./workflow-store.js";

/** The record with a new token in the name of `owner`. Throws STALE_OWNER when another was first. */
export async function takeOver(
  core: RecoveryCore,
  record: WorkflowRecord,
  owner: string,
  why: string,
): Promise<WorkflowRecord> {
  const recovery = takeOwnership(record.recovery, owner, core.clock.now());
  const raised = await saveWorkflow(
    core,
    record,
    { ...record, recovery },
    { event: { event: "owner", actor: owner, why } },
  );
  return raiseNext(core, raised);
}

/** O2. */
async function raiseNext(core: RecoveryCore, record: WorkflowRecord): Promise<WorkflowRecord> {
  const transaction = record.run?.nextTransaction ?? null;
  if (transaction === null) return record;
  const name = nameOf(record, { transaction });
  if (!(await raiseTo(core, name, record.recovery.fencingToken))) return record;
  const facts = await core.revisions.facts(name);
  if (facts === null || facts.held) return record;
  const running = asRunning(core, record, transaction);
  return saveWorkflow(core, record, running, {
    through: name,
    event: {
      event: "owner",
      actor: record.recovery.owner,
      why: "The recovery had just been completed by its owner before",
    },
  });
}

/** Raises a transaction's token to this one. False when it is not open. Throws STALE_OWNER. */
export async function raiseTo(
  core: RecoveryCore,
  name: ReturnType<typeof nameOf>,
  token: bigint,
): Promise<boolean> {
  const owner = await core.revisions.raise(name, token);
  if (owner === null) return false;
  if (owner <= token) return true;
  throw new AgentTxError(
    "STALE_OWNER",
    `Transaction ${name.transaction} has fencing token ${owner}, this recovery has ${token}; it stops here.`,
    { details: { given: `${token}`, expected: `${owner}` } },
  );
}

/** The record of the workflow once the transaction is its current revision. */
export function asRunning(
  core: RecoveryCore,
  record: WorkflowRecord,
  transaction: string,
): WorkflowRecord {
  const nowMs = core.clock.now();
  const revision = record.recovery.revision + 1;
  const moved = advanceRecovery(record.recovery, { type: "resume", revision }, nowMs);
  if (!moved.ok) throw new AgentTxError("WORKFLOW_STATE", moved.rejection.message);
  const base = record.run?.checkpoint ?? null;
  const planDigest = record.run?.digest ?? null;
  const entry = { revision, transaction, base, startedAtMs: nowMs, planDigest };
  return {
    ...record,
    recovery: moved.record,
    revisions: [...record.revisions, entry],
    run: null,
  };
}
