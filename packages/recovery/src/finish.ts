// Owns putting away the revisions that a committed one has replaced (C1): their state goes, their
// ledger, audit and terminal record stay until retention.

import { isAgentTxError } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { SYSTEM } from "./workflow-audit.js";
import { currentRevision, type WorkflowRecord } from "./workflow-record.js";
import { nameOf, saveWorkflow } from "./workflow-store.js";

const SUPERSEDED = "SUPERSEDED";

/** Does nothing unless the current revision has committed. Repeating it is harmless. */
export async function finish(core: RecoveryCore, record: WorkflowRecord): Promise<WorkflowRecord> {
  if (record.finished !== null || record.recovery.state !== "Running") return record;
  const current = currentRevision(record);
  const name = nameOf(record, current);
  if ((await core.revisions.facts(name)) !== null) return record;
  if ((await statusOf(core, record)) !== "COMMITTED") return record;
  for (const entry of record.revisions.slice(0, -1)) {
    const older = nameOf(record, entry);
    const facts = await core.revisions.facts(older);
    if (facts !== null) await core.revisions.end(older, facts.owner, SUPERSEDED, {});
  }
  const finished = { status: "COMMITTED", atMs: core.clock.now() };
  const why = `Revision ${current.revision} has committed`;
  return saveWorkflow(
    core,
    record,
    { ...record, finished },
    { event: { event: "finished", actor: SYSTEM, why } },
  );
}

/** How the current revision stands, or `EXPIRED` when retention has removed how it ended. */
export async function statusOf(core: RecoveryCore, record: WorkflowRecord): Promise<string> {
  const name = nameOf(record, currentRevision(record));
  try {
    return (await core.engine.get(name.transaction, name)).status;
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return "EXPIRED";
    throw error;
  }
}
