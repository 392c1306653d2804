// Owns the errors that say why an operation is refused in the state the transaction is in.
import { AgentTxError } from "@agenttx/model";
import type { OpenTransaction } from "./state.js";

/** Throws unless steps, rollbacks and commits may happen now. */
export function requireActive(open: OpenTransaction): void {
  requireNotEnded(open);
  requireNotHeld(open);
  if (open.header.status === "FROZEN") {
    throw new AgentTxError(
      "TRANSACTION_FROZEN",
      "The transaction is frozen: an effect of it is unresolved. Nothing was changed. Resolve it, or abort.",
      { details: { transaction: open.id, nextStep: 0 } },
    );
  }
}

/** Throws while a workflow's recovery holds the transaction (C3). */
export function requireNotHeld(open: OpenTransaction): void {
  const { held, workflow } = open.header;
  if (held !== true) return;
  throw new AgentTxError(
    "TRANSACTION_FROZEN",
    `The recovery of workflow ${workflow} holds this transaction; nothing was changed. Go on with the workflow's current revision.`,
    { details: { transaction: open.id, workflow: workflow ?? null, nextStep: 0 } },
  );
}

/** Throws when another owner has taken the transaction: storage refuses its batches as well. */
export function requireOwned(open: OpenTransaction): void {
  if (!open.fenced) return;
  throw new AgentTxError(
    "STALE_OWNER",
    "Another owner has taken this transaction; nothing was changed. Acquire it, or leave it alone.",
    { details: { transaction: open.id, owner: `${open.owner}` } },
  );
}

export function requireNotEnded(open: OpenTransaction): void {
  if (open.ended === null) return;
  const { status, reason } = open.ended;
  throw new AgentTxError(
    "TRANSACTION_ENDED",
    `The transaction has ended: ${status}. Nothing was changed. Begin a new one.`,
    { details: { transaction: open.id, status, reason } },
  );
}

export function requireEngineOpen(closing: boolean): void {
  if (!closing) return;
  throw new AgentTxError("CLOSED", "The engine is closed; nothing was changed.");
}

export function stepOutOfOrder(given: number, expected: number): AgentTxError {
  return new AgentTxError(
    "STEP_OUT_OF_ORDER",
    `Step ${given} was sent, step ${expected} is next; nothing was run. Continue with step ${expected}.`,
    { details: { given, expected } },
  );
}

export function stoppedBySignal(step: number, reason: unknown): AgentTxError {
  return new AgentTxError(
    "ABORTED_BY_SIGNAL",
    `Step ${step} was stopped and undone; the transaction is as it was before it.`,
    { details: { step }, cause: reason },
  );
}
