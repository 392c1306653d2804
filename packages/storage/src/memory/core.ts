// Owns what all handles of one memory store share, and the way a transaction leaves it.

import { AgentTxError, WriteConflictError } from "@agenttx/model";
import type { RecordSpace } from "../contract.js";
import { dropSpaces } from "./records.js";
import type { AuditState, Base, NamespaceState, TransactionState } from "./state.js";
import { fromHex, knownBases, newNamespace } from "./state.js";

export interface MemoryCore {
  readonly namespaces: Map<string, NamespaceState>;
  readonly storeChain: AuditState[];
  /** Number of the last successful commit; never reused. */
  commitVersion: bigint;
  incarnation: bigint;
  closed: boolean;
  batches: number;
  /** By name; the value tells a late unlock from the next holder's. */
  readonly locks: Map<string, object>;
}

export function requireOpen(core: MemoryCore): void {
  if (core.closed) {
    throw new AgentTxError("STORE_CLOSED", "The store is closed; nothing was read or written.");
  }
}

/** The namespace, made on first use. */
export function namespaceOf(core: MemoryCore, name: string): NamespaceState {
  const known = core.namespaces.get(name);
  if (known !== undefined) return known;
  const made = newNamespace(name);
  core.namespaces.set(name, made);
  return made;
}

/** Throws WriteConflictError when a written or validated key has another version now (S7, S8). */
export function checkConflicts(namespace: NamespaceState, state: TransactionState): void {
  const lost = [...knownBases(state)]
    .filter(([key, base]) => isValidated(state, base) || state.overlay.has(key))
    .filter(([key, base]) => (namespace.committed.get(key)?.version ?? 0n) !== base.version)
    .map(([key]) => key)
    .sort();
  if (lost.length > 0) throw new WriteConflictError(lost.map(fromHex));
}

/** A serializable fork also validates what its parent read under read committed (S8). */
function isValidated(state: TransactionState, base: Base): boolean {
  return base.validate || (state.serializable && base.read);
}

/** Publishes the overlay under the next commit version. REQUIRES: `checkConflicts` passed. */
export function publish(core: MemoryCore, namespace: NamespaceState, state: TransactionState) {
  core.commitVersion += 1n;
  for (const [key, value] of state.overlay) {
    if (value === null) namespace.committed.delete(key);
    else namespace.committed.set(key, { value, version: core.commitVersion });
  }
  return { commitVersion: core.commitVersion, keysPublished: state.overlay.size };
}

/**
 * Takes the transaction off the list of open ones, and its records of `spaces` with it. Its chain
 * stays, also an empty one: it keeps the id from being used again.
 */
export function endTransaction(
  namespace: NamespaceState,
  state: TransactionState,
  spaces: readonly RecordSpace[],
): void {
  dropSpaces(namespace, state.id, spaces);
  namespace.transactions.delete(state.id);
  if (!namespace.chains.has(state.id)) namespace.chains.set(state.id, []);
  state.ended = true;
}
