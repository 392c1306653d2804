// Owns the handle on one open transaction of the memory store.
//
//   T1 Each method does its work without an await in between, so calls are atomic.
//   T2 A handle of an earlier open, or of an ended transaction, is refused before it reads.

import { AgentTxError } from "@agenttx/model";
import type {
  BatchExtras,
  Bytes,
  CommitBatch,
  CommitResult,
  Key,
  ReadOptions,
  RestoreOptions,
  RestoreResult,
  ScanEntry,
  ScanRange,
  StepBatch,
  StoreTransaction,
  TransactionHeader,
  Write,
} from "../contract.js";
import { checkValue, keyBytes, normalRange, wholeNumber } from "../keys.js";
import {
  applyExtras,
  applyWrites,
  checkExtras,
  checkFence,
  checkLimits,
  checkReads,
  normalWrites,
  touch,
} from "./batch.js";
import type { MemoryCore } from "./core.js";
import { checkConflicts, endTransaction, namespaceOf, publish, requireOpen } from "./core.js";
import {
  checkRecords,
  dropOutputs,
  putRecords,
  REMOVED_BY_COMMIT,
  REMOVED_BY_DISCARD,
  stamp,
} from "./records.js";
import { scanMerged } from "./scan.js";
import type { NamespaceState, TransactionState } from "./state.js";
import { countReads, newestSnapshot, takeSnapshot, toHex } from "./state.js";

const SNAPSHOT_MAX = 0xffff_ffff;

export class MemoryTransaction implements StoreTransaction {
  readonly #core: MemoryCore;
  readonly #state: TransactionState;
  readonly #incarnation: bigint;
  #released = false;

  constructor(core: MemoryCore, state: TransactionState) {
    this.#core = core;
    this.#state = state;
    this.#incarnation = core.incarnation;
  }

  get id(): string {
    return this.#state.id;
  }

  get namespace(): string {
    return this.#state.namespace;
  }

  header(): TransactionHeader {
    return headerOf(this.#state, this.#incarnation);
  }

  async get(key: Key, options?: ReadOptions): Promise<Bytes | null> {
    const bytes = keyBytes(key);
    return this.#read(this.#live(), bytes, options);
  }

  async getMany(keys: readonly Key[], options?: ReadOptions): Promise<(Bytes | null)[]> {
    const all = keys.map(keyBytes);
    const namespace = this.#live();
    return all.map((key) => this.#read(namespace, key, options));
  }

  async scan(range?: ScanRange): Promise<ScanEntry[]> {
    const normal = normalRange(range);
    const namespace = this.#live();
    if (this.#state.serializable) {
      throw new AgentTxError(
        "SCAN_NOT_SERIALIZABLE",
        "A serializable transaction cannot scan: ranges are not validated at commit. Read keys one by one, or begin with read-committed.",
      );
    }
    const found = scanMerged(namespace.committed, this.#state.overlay, normal);
    const read = found.filter(({ committed }) => committed).map(({ hex }) => hex);
    checkReads(this.#state, read);
    for (const hex of read) {
      touch(namespace, this.#state, hex, { read: true, validate: false });
    }
    return found.map(({ entry }) => entry);
  }

  async put(key: Key, value: Bytes): Promise<void> {
    this.#apply({ writes: [{ key, value }] });
  }

  async delete(key: Key): Promise<void> {
    this.#apply({ writes: [{ key, value: null }] });
  }

  async write(writes: readonly Write[]): Promise<void> {
    this.#apply({ writes });
  }

  async createSnapshot(step: number): Promise<void> {
    this.#apply({ snapshot: step });
  }

  async apply(batch: StepBatch): Promise<void> {
    this.#apply(batch);
  }

  async restoreSnapshot(step: number, options: RestoreOptions = {}): Promise<RestoreResult> {
    wholeNumber(step, "snapshot", 0, SNAPSHOT_MAX);
    const state = this.#state;
    const namespace = this.#live();
    checkFence(namespace, state, options);
    checkExtras(state, options);
    const target = state.snapshots.get(step);
    if (target === undefined) {
      throw new AgentTxError(
        "SNAPSHOT_NOT_FOUND",
        `There is no snapshot ${step}; nothing was changed. The newest is ${newestSnapshot(state)}.`,
        { details: { step, newest: newestSnapshot(state) } },
      );
    }
    if (options.snapshot !== undefined) checkSnapshotNumber(options.snapshot, step);
    const reverted = state.writes.slice(target.writeCount);
    state.overlay = new Map(target.overlay);
    state.bases = new Map(target.bases);
    state.bytes = target.bytes;
    state.held = false;
    state.writes.length = target.writeCount;
    state.volatile.reads.clear();
    for (const later of [...state.snapshots.keys()]) {
      if (later > step) state.snapshots.delete(later);
    }
    dropOutputs(namespace, state.id, step);
    this.#finish(namespace, options);
    if (options.snapshot !== undefined) takeSnapshot(state, options.snapshot);
    return { writesReverted: reverted.length, keysRestored: new Set(reverted).size };
  }

  beginAttempt(): number {
    this.#live();
    this.#state.volatile.attempt += 1;
    return this.#state.volatile.attempt;
  }

  async commit({ stamped = [], ...extras }: CommitBatch = {}): Promise<CommitResult> {
    const namespace = this.#live();
    checkFence(namespace, this.#state, extras);
    checkExtras(this.#state, extras);
    checkRecords(stamped);
    for (const { value } of stamped) checkValue(value);
    checkConflicts(namespace, this.#state);
    const result = publish(this.#core, namespace, this.#state);
    this.#finish(namespace, extras);
    putRecords(namespace, this.#state.id, stamp(stamped, result.commitVersion));
    endTransaction(namespace, this.#state, REMOVED_BY_COMMIT);
    return result;
  }

  async discard(extras: BatchExtras = {}): Promise<void> {
    const namespace = this.#live();
    checkFence(namespace, this.#state, extras);
    checkExtras(this.#state, extras);
    this.#finish(namespace, extras);
    endTransaction(namespace, this.#state, REMOVED_BY_DISCARD);
  }

  touched(): { readonly read: number; readonly written: number } {
    return { read: countReads(this.#state), written: this.#state.overlay.size };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#released = true;
  }

  /** The namespace this handle works on, or the reason why it no longer may (T2). */
  #live(): NamespaceState {
    requireOpen(this.#core);
    if (this.#released) {
      throw new AgentTxError("CLOSED", "The handle was released; attach to the transaction again.");
    }
    if (this.#incarnation !== this.#core.incarnation) {
      throw new AgentTxError(
        "STALE_OWNER",
        "The handle belongs to an earlier open of the store; nothing was read or written. Attach to the transaction again.",
      );
    }
    if (this.#state.ended) {
      throw new AgentTxError(
        "TRANSACTION_ENDED",
        "The transaction has ended; nothing was changed.",
      );
    }
    return namespaceOf(this.#core, this.#state.namespace);
  }

  #read(namespace: NamespaceState, key: Bytes, options: ReadOptions | undefined): Bytes | null {
    const hex = toHex(key);
    const validate = (options?.validate ?? false) || this.#state.serializable;
    const own = this.#state.overlay.get(hex);
    if (own === undefined) {
      checkReads(this.#state, [hex]);
      touch(namespace, this.#state, hex, { read: true, validate });
    }
    const value = own === undefined ? namespace.committed.get(hex)?.value : own;
    return value === undefined || value === null ? null : new Uint8Array(value);
  }

  #apply(batch: StepBatch): void {
    const writes = normalWrites(batch.writes ?? []);
    const namespace = this.#live();
    checkFence(namespace, this.#state, batch);
    checkExtras(this.#state, batch);
    checkLimits(this.#state, writes);
    const { snapshot } = batch;
    if (snapshot !== undefined) checkSnapshotNumber(snapshot, newestSnapshot(this.#state));
    applyWrites(namespace, this.#state, writes);
    this.#finish(namespace, batch);
    if (snapshot !== undefined) takeSnapshot(this.#state, snapshot);
  }

  #finish(namespace: NamespaceState, extras: BatchExtras): void {
    applyExtras(namespace, this.#state, extras, this.#core.storeChain);
    this.#core.batches += 1;
  }
}

/** Fresh copy of the header as a handle of `incarnation` sees it. */
export function headerOf(state: TransactionState, incarnation: bigint): TransactionHeader {
  return {
    incarnation,
    owner: state.owner,
    attempt: state.volatile.attempt,
    step: state.step,
    snapshot: newestSnapshot(state),
    payload: new Uint8Array(state.payload),
  };
}

function checkSnapshotNumber(step: number, newest: number): void {
  wholeNumber(step, "snapshot", 0, SNAPSHOT_MAX);
  if (step > newest) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `Snapshot ${step} is not above the newest one, ${newest}; nothing was changed.`,
    { details: { step, newest } },
  );
}
