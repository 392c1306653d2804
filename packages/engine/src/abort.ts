// Owns abort: everything is compensated, staged effects are dropped, state is discarded.
import { AgentTxError, type RollbackOutcome } from "@agenttx/model";
import type { PendingRollback } from "./header.js";
import { rollbackOutcome } from "./outcomes.js";
import { requireNotEnded } from "./refusals.js";
import { beginRollback, continueRollback, NOTHING_PENDING } from "./rollback.js";
import { makeReady } from "./settle.js";
import type { OpenTransaction } from "./state.js";

export const REASON_CHARS_MAX = 256;

/**
 * Ends the transaction with ROLLED_BACK. A repeated call returns the first outcome (P2); of a
 * committed transaction it throws TRANSACTION_ENDED. What cannot be undone stays in the ledger and
 * `rolledBack` is false. REQUIRES: the lock is held.
 */
export async function abortTransaction(
  open: OpenTransaction,
  reason: string,
): Promise<RollbackOutcome> {
  const first = firstAbort(open);
  if (first !== null) return first;
  requireNotEnded(open);
  // An interrupted rollback need not be completed first: an abort undoes more than it would.
  if (open.outcomeUnknown || open.incarnation !== open.engine.store.incarnation) {
    await makeReady(open);
    const again = firstAbort(open);
    if (again !== null) return again;
    requireNotEnded(open);
  }
  const pending: PendingRollback = {
    ...NOTHING_PENDING,
    kind: "abort",
    step: open.nextStep,
    target: 0,
    reason: reason.slice(0, REASON_CHARS_MAX),
  };
  const { pending: before } = open.header;
  const result =
    before?.kind === "abort"
      ? await continueRollback(open, before)
      : await beginRollback(open, pending, { audit: [] });
  return open.ended?.rollback ?? rollbackOutcome(pending, result);
}

function firstAbort(open: OpenTransaction): RollbackOutcome | null {
  return open.ended === null || open.ended.status === "COMMITTED" ? null : open.ended.rollback;
}

/** Throws INVALID_ARGUMENT unless the reason is text. */
export function requireReason(reason: string): void {
  if (typeof reason === "string") return;
  throw new AgentTxError("INVALID_ARGUMENT", "The reason of an abort is text.");
}
