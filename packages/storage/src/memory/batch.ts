// Owns what every batch of a transaction goes through: checks, fence, writes, extras.
//
//   B1 All checks come before the first change, so a refusal changes nothing (C4).
//   B2 The fence is compared before the batch is looked at any further (E6).

import { AgentTxError } from "@agenttx/model";
import type { BatchExtras, Bytes, Fence, Write } from "../contract.js";
import { checkValue, keyBytes } from "../keys.js";
import { appendAudit, auditStart } from "./audit.js";
import { checkRecords, putEvidence, putRecords } from "./records.js";
import type { AuditState, Base, Hex, NamespaceState, TransactionState } from "./state.js";
import { countReads, keepReads, ownMaps, toHex } from "./state.js";

export type NormalWrite = readonly [key: Hex, value: Bytes | null];

/** Writes with their keys normalised and values copied. Throws before anything is written. */
export function normalWrites(writes: readonly Write[]): NormalWrite[] {
  return writes.map(({ key, value }) => {
    if (value !== null) checkValue(value);
    return [toHex(keyBytes(key)), value === null ? null : new Uint8Array(value)];
  });
}

function fenceRefusal(state: TransactionState, fence: Fence): AgentTxError | null {
  if (fence.owner !== state.owner) {
    return new AgentTxError(
      "STALE_OWNER",
      `The batch carries fencing token ${fence.owner}, the transaction's owner has ${state.owner}; nothing was written.`,
      { details: { given: `${fence.owner}`, expected: `${state.owner}` } },
    );
  }
  if (fence.attempt !== state.volatile.attempt) {
    return new AgentTxError(
      "STALE_ATTEMPT",
      `The batch is of attempt ${fence.attempt}, attempt ${state.volatile.attempt} is running; nothing was written.`,
      { details: { given: fence.attempt, expected: state.volatile.attempt } },
    );
  }
  if (fence.step !== state.step) {
    return new AgentTxError(
      "STEP_OUT_OF_ORDER",
      `The batch is of step ${fence.step}, step ${state.step} is expected; nothing was written.`,
      { details: { given: fence.step, expected: state.step } },
    );
  }
  return null;
}

/** Compares the batch with the header; a refused one leaves its evidence behind (E6, B2). */
export function checkFence(
  namespace: NamespaceState,
  state: TransactionState,
  extras: BatchExtras,
): void {
  const refusal = extras.fence === undefined ? null : fenceRefusal(state, extras.fence);
  if (refusal === null) return;
  if (extras.evidence !== undefined) putEvidence(namespace, state.id, extras.evidence);
  throw refusal;
}

/** Checks of the extras that need no fence: shapes, and that numbers only grow. */
export function checkExtras(state: TransactionState, extras: BatchExtras): void {
  checkRecords(extras.records ?? []);
  const { owner, attempt } = extras.next ?? {};
  if (owner !== undefined && owner < state.owner) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `A fencing token only grows: ${owner} is below ${state.owner}; nothing was written.`,
    );
  }
  if (attempt !== undefined && attempt < state.volatile.attempt) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `The attempt only grows: ${attempt} is below ${state.volatile.attempt}; nothing was written.`,
    );
  }
}

function entryBytes(key: Hex, value: Bytes | null): number {
  return key.length / 2 + (value?.byteLength ?? 0);
}

/** Size of the overlay after `writes`: distinct keys, and bytes of keys and values. */
function sizeAfter(
  state: TransactionState,
  writes: readonly NormalWrite[],
): { readonly keys: number; readonly bytes: number } {
  let { bytes } = state;
  let keys = state.overlay.size;
  const last = new Map(writes);
  for (const [key, value] of last) {
    const before = state.overlay.get(key);
    if (before === undefined) keys += 1;
    else bytes -= entryBytes(key, before);
    bytes += entryBytes(key, value);
  }
  return { keys, bytes };
}

/** Throws PAYLOAD_TOO_LARGE when reading `keys` would pass the cap of distinct read keys (S11). */
export function checkReads(state: TransactionState, keys: readonly Hex[]): void {
  const { bases, volatile, keysMax } = state;
  // What was touched is an upper bound of what was read, and needs no pass over it.
  if (bases.size + volatile.reads.size + keys.length <= keysMax) return;
  const isRead = (key: Hex) => (volatile.reads.get(key) ?? bases.get(key))?.read ?? false;
  const newKeys = keys.filter((key) => !isRead(key)).length;
  if (newKeys === 0 || countReads(state) + newKeys <= keysMax) return;
  throw new AgentTxError(
    "PAYLOAD_TOO_LARGE",
    `The transaction may read ${keysMax} keys; this read passes that. Nothing was changed.`,
    { details: { keysMax } },
  );
}

/** Throws PAYLOAD_TOO_LARGE when the overlay would pass a cap of the transaction (S11). */
export function checkLimits(state: TransactionState, writes: readonly NormalWrite[]): void {
  const { keys, bytes } = sizeAfter(state, writes);
  if (keys > state.keysMax) {
    throw new AgentTxError(
      "PAYLOAD_TOO_LARGE",
      `The transaction would hold ${keys} written keys, at most ${state.keysMax} are allowed; nothing was written.`,
      { details: { keys, keysMax: state.keysMax } },
    );
  }
  if (bytes > state.bytesMax) {
    throw new AgentTxError(
      "PAYLOAD_TOO_LARGE",
      `The transaction would hold ${bytes} written bytes, at most ${state.bytesMax} are allowed; nothing was written.`,
      { details: { bytes, bytesMax: state.bytesMax } },
    );
  }
}

/** Notes what the transaction saw at its first touch of a key (S6). */
export function touch(
  namespace: NamespaceState,
  state: TransactionState,
  key: Hex,
  how: { readonly read: boolean; readonly validate: boolean },
): void {
  const known = state.volatile.reads.get(key) ?? state.bases.get(key);
  const base: Base = {
    version: known?.version ?? namespace.committed.get(key)?.version ?? 0n,
    read: how.read || (known?.read ?? false),
    validate: how.validate || (known?.validate ?? false),
  };
  if (known?.read === base.read && known.validate === base.validate) return;
  state.volatile.reads.set(key, base);
}

export function applyWrites(
  namespace: NamespaceState,
  state: TransactionState,
  writes: readonly NormalWrite[],
): void {
  for (const [key] of writes) touch(namespace, state, key, { read: false, validate: false });
  keepReads(state);
  if (writes.length === 0) return;
  state.bytes = sizeAfter(state, writes).bytes;
  ownMaps(state);
  for (const [key, value] of writes) {
    state.overlay.set(key, value);
    state.writes.push(key);
  }
}

/** Header, payload, records and audit of a batch. REQUIRES: all checks passed. */
export function applyExtras(
  namespace: NamespaceState,
  state: TransactionState,
  extras: BatchExtras,
  storeChain: AuditState[],
): void {
  state.owner = extras.next?.owner ?? state.owner;
  state.volatile.attempt = extras.next?.attempt ?? state.volatile.attempt;
  state.attempt = state.volatile.attempt;
  state.step = extras.next?.step ?? state.step;
  if (extras.payload !== undefined) state.payload = new Uint8Array(extras.payload);
  putRecords(namespace, state.id, extras.records ?? []);
  appendChain(namespace, state.id, extras.audit ?? []);
  appendAudit(storeChain, extras.storeAudit ?? []);
}

/** Appends to a transaction's chain; it outlives the transaction. */
export function appendChain(
  namespace: NamespaceState,
  transaction: string,
  payloads: readonly Bytes[],
): void {
  if (payloads.length === 0) return;
  const chain = namespace.chains.get(transaction) ?? [];
  appendAudit(chain, payloads, auditStart(transaction, namespace.name));
  namespace.chains.set(transaction, chain);
}
