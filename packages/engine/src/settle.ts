// Owns bringing a transaction to rest before an operation: a handle of an earlier open of the store
// is attached anew, an interrupted rollback is continued, what a broken step left is undone.
import { AgentTxError, type JsonValue } from "@agenttx/model";
import { decodeHeader } from "./header.js";
import { requireOwned } from "./refusals.js";
import { requestDigest } from "./requests.js";
import { beginRollback, continueRollback, NOTHING_PENDING } from "./rollback.js";
import { type Ended, type OpenTransaction, tell } from "./state.js";
import { failStep, unsettledEffects } from "./step/failure.js";
import { endedOf, readTerminal } from "./terminal.js";

/** False when `makeReady` has something to do. */
export function isReady(open: OpenTransaction): boolean {
  const { engine, header } = open;
  return (
    !open.outcomeUnknown &&
    open.ended === null &&
    open.undoFrom === null &&
    header.status !== "ROLLING_BACK" &&
    header.infrastructureFailures <= engine.settings.infrastructureFailuresMax &&
    open.incarnation === engine.store.incarnation
  );
}

/** After it, the transaction is active, frozen or ended. REQUIRES: the lock is held. */
export async function makeReady(open: OpenTransaction): Promise<void> {
  if (open.outcomeUnknown) await learnOutcome(open);
  if (open.ended !== null) return;
  if (open.incarnation !== open.engine.store.incarnation) await attachAgain(open);
  if (open.header.status === "ROLLING_BACK") await finishPending(open);
  if (open.ended !== null) return;
  if (open.undoFrom !== null) await undoBroken(open, open.undoFrom);
  const { infrastructureFailures } = open.header;
  if (infrastructureFailures > open.engine.settings.infrastructureFailuresMax) {
    await abortBroken(open);
  }
}

/** After OUTCOME_UNKNOWN the terminal record tells, once the store can be read again (P2). */
export async function learnOutcome(open: OpenTransaction): Promise<void> {
  const record = await readTerminal(open.engine.store, open.id, open.namespace);
  open.outcomeUnknown = false;
  if (record === null) return;
  open.ended = endedOf(record);
  tellEnd(open, open.ended);
}

/** The end is news: the call that brought it about could not tell it. */
function tellEnd(open: OpenTransaction, { status, reason, commit }: Ended): void {
  if (commit === null) {
    tell(open, "aborted", 0, null, { status, reason: reason ?? "" });
    return;
  }
  const { stepsCommitted: steps, effectsDispatched: dispatched, effectsPending: pending } = commit;
  tell(open, "committed", 0, null, { steps, dispatched, pending });
}

/** The store was reopened under us: what is on disk is the truth (I2 of header.ts). */
async function attachAgain(open: OpenTransaction): Promise<void> {
  const { store } = open.engine;
  const tx = await store.attach(open.id, { namespace: open.namespace });
  const stored = tx.header();
  open.fenced ||= stored.owner !== open.owner;
  requireOwned(open);
  const { infrastructureFailures } = open.header;
  open.tx = tx;
  open.header = { ...decodeHeader(open.id, stored.payload), infrastructureFailures };
  open.owner = stored.owner;
  open.attempt = stored.attempt;
  open.nextStep = stored.step;
  open.graph.rewindTo(stored.step);
  open.writesSoFar = await writesSoFar(open);
  open.incarnation = store.incarnation;
}

/** Writes of the steps that stand, from the record of the last one. */
export async function writesSoFar(open: OpenTransaction): Promise<number> {
  if (open.nextStep <= 1) return 0;
  return (await open.graph.record(open.nextStep - 1))?.w ?? 0;
}

async function finishPending(open: OpenTransaction): Promise<void> {
  const { pending } = open.header;
  if (pending !== null) await continueRollback(open, pending);
}

async function undoBroken(open: OpenTransaction, step: number): Promise<void> {
  const pending = { ...NOTHING_PENDING, kind: "resume", step, target: step } as const;
  const at = open.engine.clock.now();
  await beginRollback(open, pending, {
    audit: [{ k: "stopped", at, s: step, why: "infrastructure" }],
  });
}

async function abortBroken(open: OpenTransaction): Promise<void> {
  const reason = "INFRASTRUCTURE_FAILURES";
  await beginRollback(
    open,
    {
      ...NOTHING_PENDING,
      kind: "abort",
      step: open.nextStep,
      target: 0,
      reason,
      endStatus: "FAILED",
    },
    { audit: [] },
  );
}

/**
 * Goes on with a frozen transaction once nothing of it is unresolved: the rollback that waited is
 * completed; a step whose effect was unknown is decided now. Returns false while it must wait.
 */
export async function unfreeze(open: OpenTransaction): Promise<boolean> {
  const { pending, status } = open.header;
  if (open.ended !== null || status !== "FROZEN" || pending === null) return true;
  if ((await unsettledEffects(open)).length > 0) return false;
  if (pending.kind !== "undecided") {
    const result = await continueRollback(open, pending);
    if (result.kind === "frozen") return false;
    tell(open, "unfrozen", pending.step, pending.tool);
    return true;
  }
  if (pending.hint === null) {
    throw new AgentTxError("INTERNAL", "A frozen step has no hint; the transaction stays frozen.");
  }
  const args = readArgs(pending.argsText);
  const { inputs, references } = await open.graph.inputsOf(args);
  const outcome = await failStep(open, {
    step: pending.step,
    tool: pending.tool ?? "",
    hint: pending.hint,
    inputs,
    references,
    argsText: pending.argsText ?? "null",
    reported: false,
    request: null,
    digest: requestDigest("step", pending.tool ?? "", args),
  });
  if (outcome.status === "FAILED" && outcome.transactionStatus === "FROZEN") return false;
  tell(open, "unfrozen", pending.step, pending.tool);
  return true;
}

/** Recorded by this engine as JSON text. */
function readArgs(text: string | null): JsonValue {
  return text === null ? null : (JSON.parse(text) as JsonValue);
}
