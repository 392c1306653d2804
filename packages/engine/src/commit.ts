// Owns commit: one batch publishes state, outbox, terminal record and audit; then effects are
// delivered.
//
//   M1 Refused while anything is unresolved (E8a); nothing unresolved is ever deleted.
//   M2 The first outcome is the only one: a repeat returns it, also after a restart (P2).
//   M3 A write conflict writes nothing and leaves the transaction open: its state can still be read
//      and its effects still stand. It cannot commit any more: abort it, and begin again.
import {
  AgentTxError,
  type CommitOutcome,
  isAgentTxError,
  WriteConflictError,
} from "@agenttx/model";
import { encodeAudit } from "./audit.js";
import { requireActive } from "./refusals.js";
import { learnOutcome, makeReady } from "./settle.js";
import { type Ended, fenceOf, hasEffects, type OpenTransaction, tell } from "./state.js";
import { unsettledEffects } from "./step/failure.js";
import { committedRecord, terminalRecord } from "./terminal.js";

/** REQUIRES: the lock is held. Throws WriteConflictError and OUTCOME_UNKNOWN as the store does. */
export async function commitTransaction(open: OpenTransaction): Promise<CommitOutcome> {
  if (open.outcomeUnknown) await learnOutcome(open);
  const first = firstCommit(open);
  if (first !== null) return first;
  requireActive(open);
  await makeReady(open);
  requireActive(open);
  await requireSettled(open);
  const ended = await publish(open);
  return deliver(open, ended);
}

function firstCommit(open: OpenTransaction): CommitOutcome | null {
  return open.ended?.status === "COMMITTED" ? open.ended.commit : null;
}

async function requireSettled(open: OpenTransaction): Promise<void> {
  const unresolved = await unsettledEffects(open);
  if (unresolved.length === 0) return;
  throw new AgentTxError(
    "RECONCILIATION_REQUIRED",
    "An effect of this transaction is unresolved; nothing was committed. Resolve it, or abort.",
    { details: { transaction: open.id, unresolvedEffects: unresolved } },
  );
}

async function publish(open: OpenTransaction): Promise<Ended> {
  const steps = open.nextStep - 1;
  const { effects, clock } = open.engine;
  const outbox = hasEffects(open.header)
    ? await effects.commitRecords(open.id, open.namespace)
    : [];
  const at = clock.now();
  const ended = committed({ commitVersion: 0n, stepsCommitted: steps });
  try {
    const { commitVersion } = await open.tx.commit({
      fence: fenceOf(open),
      records: outbox,
      stamped: [terminalRecord(open, ended)],
      audit: [encodeAudit({ k: "commit", at, steps })],
      storeAudit: [Buffer.from(JSON.stringify({ k: "commit", tx: open.id, at, steps }))],
    });
    open.ended = committed({ commitVersion, stepsCommitted: steps });
    return open.ended;
  } catch (error) {
    if (error instanceof WriteConflictError) {
      tell(open, "conflict", 0, null, { keys: error.keys.length });
    } else if (isAgentTxError(error) && error.code === "OUTCOME_UNKNOWN") {
      open.outcomeUnknown = true;
    }
    throw error;
  }
}

function committed(fields: Pick<CommitOutcome, "commitVersion" | "stepsCommitted">): Ended {
  const commit: CommitOutcome = {
    status: "COMMITTED",
    ...fields,
    effectsDispatched: 0,
    effectsPending: 0,
    dispatchErrors: [],
  };
  return { status: "COMMITTED", reason: null, commit, rollback: null };
}

/** Committed already: whatever goes wrong from here on cannot make it uncommitted. */
async function deliver(open: OpenTransaction, ended: Ended): Promise<CommitOutcome> {
  const { engine, id, namespace } = open;
  let commit = ended.commit ?? committed({ commitVersion: 0n, stepsCommitted: 0 }).commit;
  if (commit === null) throw new AgentTxError("INTERNAL", "A commit has no outcome.");
  if (hasEffects(open.header)) {
    const report = await engine.effects.deliver(id, namespace, engine.settings.deliveryBudgetMs);
    commit = {
      ...commit,
      effectsDispatched: report.delivered,
      effectsPending: report.pending,
      dispatchErrors: report.errors,
    };
  }
  open.ended = { ...ended, commit };
  if (hasEffects(open.header)) await keepOutcome(open, open.ended);
  tell(open, "committed", 0, null, {
    steps: commit.stepsCommitted,
    dispatched: commit.effectsDispatched,
    pending: commit.effectsPending,
  });
  return commit;
}

/** What became of the deliveries is known only after the batch; a later process tells it too. */
async function keepOutcome(open: OpenTransaction, ended: Ended): Promise<void> {
  try {
    await open.engine.store.writeRecords(open.id, {
      namespace: open.namespace,
      records: [committedRecord(open, ended)],
    });
  } catch {
    // The commit itself is durable; a repeat after a restart then answers without them.
  }
}
