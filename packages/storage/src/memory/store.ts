// Owns the memory store: the reference that other drivers are compared with. It is meant to be
// obviously right, not fast: maps, copies, no journal.

import { AgentTxError, limits } from "@agenttx/model";
import type {
  AuditEntry,
  BeginOptions,
  Bytes,
  EndedBatch,
  Key,
  NamespaceOption,
  OpenTransaction,
  RecordEntry,
  RecordKey,
  RecordSpace,
  ScanEntry,
  ScanRange,
  Store,
  StoreStats,
  StoreTransaction,
} from "../contract.js";
import {
  keyBytes,
  namespaceBytes,
  normalRange,
  pageLimit,
  transactionIdBytes,
  wholeNumber,
} from "../keys.js";
import { appendAudit } from "./audit.js";
import { appendChain, checkLimits } from "./batch.js";
import type { MemoryCore } from "./core.js";
import { namespaceOf, requireOpen } from "./core.js";
import { checkRecords, encodedName, getRecord, listRecords, putRecords } from "./records.js";
import { scanMerged } from "./scan.js";
import type { NamespaceState, TransactionState, View } from "./state.js";
import { takeSnapshot, toHex } from "./state.js";
import { headerOf, MemoryTransaction } from "./transaction.js";

const EMPTY: View = { overlay: new Map(), bases: new Map(), bytes: 0, writeCount: 0 };

export class MemoryStore implements Store {
  readonly driver = "memory";
  readonly path = ":memory:";
  readonly syncWrites: boolean;
  readonly warnings: readonly string[] = [];
  readonly #core: MemoryCore = {
    namespaces: new Map(),
    storeChain: [],
    commitVersion: 0n,
    incarnation: 1n,
    closed: false,
    batches: 0,
    locks: new Map(),
  };

  constructor(options: { readonly syncWrites: boolean }) {
    this.syncWrites = options.syncWrites;
  }

  get incarnation(): bigint {
    return this.#core.incarnation;
  }

  async begin(id: string, options: BeginOptions = {}): Promise<StoreTransaction> {
    return this.#begin(id, options, EMPTY);
  }

  async attach(id: string, options: NamespaceOption = {}): Promise<StoreTransaction> {
    return new MemoryTransaction(this.#core, this.#open(id, options.namespace));
  }

  async fork(
    from: string,
    step: number,
    id: string,
    options: BeginOptions = {},
  ): Promise<StoreTransaction> {
    const view = this.#open(from, options.namespace).snapshots.get(step);
    if (view === undefined) {
      throw new AgentTxError("SNAPSHOT_NOT_FOUND", `There is no snapshot ${step} to fork from.`);
    }
    return this.#begin(id, options, view);
  }

  /** There is no other Store of the same content. */
  async claim(id: string, options: NamespaceOption = {}): Promise<boolean> {
    this.#open(id, options.namespace);
    return true;
  }

  async tryLock(name: string): Promise<(() => void) | null> {
    requireOpen(this.#core);
    const { locks } = this.#core;
    if (locks.has(name)) return null;
    const token = {};
    locks.set(name, token);
    return () => {
      if (locks.get(name) === token) locks.delete(name);
    };
  }

  async openTransactions(
    page: Parameters<Store["openTransactions"]>[0] = {},
  ): Promise<OpenTransaction[]> {
    requireOpen(this.#core);
    const limit = pageLimit(page.limit);
    const position = (of: { readonly namespace: string; readonly id: string }): string =>
      encodedName(of.namespace) + encodedName(of.id);
    const after = page.after === undefined ? "" : position(page.after);
    return [...this.#core.namespaces.values()]
      .flatMap((namespace) => [...namespace.transactions.values()])
      .map((state) => ({ state, at: position(state) }))
      .filter(({ at }) => at > after)
      .sort((one, other) => (one.at < other.at ? -1 : 1))
      .slice(0, limit)
      .map(({ state }) => ({
        id: state.id,
        namespace: state.namespace,
        header: headerOf(state, this.#core.incarnation),
      }));
  }

  async get(key: Key, options: NamespaceOption = {}): Promise<Bytes | null> {
    const found = this.#namespace(options).committed.get(toHex(keyBytes(key)));
    return found === undefined ? null : new Uint8Array(found.value);
  }

  async getVersioned(key: Key, options: NamespaceOption = {}) {
    const found = this.#namespace(options).committed.get(toHex(keyBytes(key)));
    if (found === undefined) return null;
    return { value: new Uint8Array(found.value), version: found.version };
  }

  async scan(range: ScanRange & NamespaceOption = {}): Promise<ScanEntry[]> {
    const normal = normalRange(range);
    const { committed } = this.#namespace(range);
    return scanMerged(committed, EMPTY.overlay, normal).map(({ entry }) => entry);
  }

  async readRecord(transaction: string, key: RecordKey & NamespaceOption): Promise<Bytes | null> {
    return getRecord(this.#namespace(key), transaction, key);
  }

  async scanRecords(
    space: RecordSpace,
    range: Parameters<Store["scanRecords"]>[1],
  ): Promise<RecordEntry[]> {
    return listRecords(this.#namespace(range), space, {
      transaction: range.transaction,
      fromStep: range.fromStep ?? 0,
      after: range.after,
      limit: pageLimit(range.limit),
    });
  }

  async writeRecords(transaction: string, batch: EndedBatch): Promise<void> {
    const namespace = this.#namespace(batch);
    if (namespace.transactions.has(transaction)) {
      throw new AgentTxError(
        "INVALID_ARGUMENT",
        `Transaction ${transaction} is open: its records go through its handle, which is fenced; nothing was written.`,
      );
    }
    if (transaction !== "") transactionIdBytes(transaction);
    if ((batch.audit ?? []).length > 0) requireChain(namespace, transaction);
    if (batch.eraseAudit === true) requireErasable(transaction, batch);
    checkRecords(batch.records ?? []);
    putRecords(namespace, transaction, batch.records ?? []);
    appendChain(namespace, transaction, batch.audit ?? []);
    if (batch.eraseAudit === true) namespace.chains.delete(transaction);
    appendAudit(this.#core.storeChain, batch.storeAudit ?? []);
    this.#core.batches += 1;
  }

  async readAudit(
    transaction: string | null,
    range: Parameters<Store["readAudit"]>[1] = {},
  ): Promise<AuditEntry[]> {
    const namespace = this.#namespace(range);
    const limit = pageLimit(range.limit);
    const from = wholeNumber(range.fromSeq ?? 1, "fromSeq", 0, Number.MAX_SAFE_INTEGER);
    const chain =
      transaction === null ? this.#core.storeChain : (namespace.chains.get(transaction) ?? []);
    return chain
      .map(({ payload, hash }, index) => ({
        seq: index + 1,
        payload: new Uint8Array(payload),
        hash: new Uint8Array(hash),
      }))
      .slice(Math.max(from, 1) - 1)
      .slice(0, limit);
  }

  async checkpoint(_path: string): Promise<void> {
    requireOpen(this.#core);
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "The memory store has no files to copy; nothing was written. Use the RocksDB driver.",
    );
  }

  async stats(): Promise<StoreStats> {
    requireOpen(this.#core);
    const namespaces = [...this.#core.namespaces.values()];
    const values = namespaces.flatMap((namespace) => [
      ...[...namespace.committed.values()].map(({ value }) => value.byteLength),
      ...[...namespace.transactions.values()].map(({ bytes }) => bytes),
    ]);
    return {
      commitVersion: this.#core.commitVersion,
      openTransactions: namespaces.reduce((sum, { transactions }) => sum + transactions.size, 0),
      poisoned: null,
      walSyncs: 0,
      batches: this.#core.batches,
      diskBytes: 0,
      memoryBytes: values.reduce((sum, bytes) => sum + bytes, 0),
      driver: {},
    };
  }

  /** Simulates a restart: acknowledged batches stay, the rest is forgotten, handles are stale. */
  async reopen(): Promise<void> {
    requireOpen(this.#core);
    this.#core.incarnation += 1n;
    this.#core.batches = 0;
    this.#core.locks.clear();
    for (const namespace of this.#core.namespaces.values()) {
      for (const state of namespace.transactions.values()) {
        state.volatile = { reads: new Map(), attempt: state.attempt };
      }
    }
  }

  async close(): Promise<void> {
    this.#core.closed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #namespace(options: NamespaceOption): NamespaceState {
    const name = options.namespace ?? "";
    namespaceBytes(name);
    requireOpen(this.#core);
    return namespaceOf(this.#core, name);
  }

  #open(id: string, namespace = ""): TransactionState {
    const state = this.#namespace({ namespace }).transactions.get(id);
    if (state !== undefined) return state;
    throw new AgentTxError("NOT_FOUND", `There is no open transaction ${id}.`, {
      details: { transaction: id },
    });
  }

  #begin(id: string, options: BeginOptions, view: View): StoreTransaction {
    transactionIdBytes(id);
    const namespace = this.#namespace(options);
    if (namespace.transactions.has(id) || namespace.chains.has(id)) {
      throw new AgentTxError(
        "TRANSACTION_EXISTS",
        `A transaction ${id} is open or has ended; ids are used once. Nothing was written.`,
        { details: { transaction: id } },
      );
    }
    checkRecords(options.records ?? []);
    checkOptions(options);
    const state = newTransaction(id, options, view);
    checkLimits(state, []);
    takeSnapshot(state, 0);
    takeSnapshot(state, 1);
    namespace.transactions.set(id, state);
    putRecords(namespace, id, options.records ?? []);
    appendChain(namespace, id, options.audit ?? []);
    this.#core.batches += 1;
    return new MemoryTransaction(this.#core, state);
  }
}

/** Audit entries go on a chain that a transaction has begun. */
function requireChain(namespace: NamespaceState, transaction: string): void {
  if (transaction === "") {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "Records of no transaction have no audit chain; nothing was written.",
    );
  }
  if (namespace.chains.has(transaction)) return;
  throw new AgentTxError(
    "NOT_FOUND",
    `There was never a transaction ${transaction}; nothing was written.`,
    { details: { transaction } },
  );
}

function requireErasable(transaction: string, { audit = [] }: EndedBatch): void {
  if (transaction !== "" && audit.length === 0) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    transaction === ""
      ? "Records of no transaction have no audit chain; nothing was written."
      : "A batch that erases an audit chain adds nothing to it; nothing was written.",
  );
}

function checkOptions({ isolation, bytesMax, keysMax }: BeginOptions): void {
  if (isolation !== undefined && isolation !== "read-committed" && isolation !== "serializable") {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "isolation is read-committed or serializable; nothing was written.",
    );
  }
  wholeNumber(bytesMax ?? 0, "bytesMax", 0, Number.MAX_SAFE_INTEGER);
  wholeNumber(keysMax ?? 0, "keysMax", 0, Number.MAX_SAFE_INTEGER);
}

function newTransaction(id: string, options: BeginOptions, view: View): TransactionState {
  return {
    id,
    namespace: options.namespace ?? "",
    serializable: options.isolation === "serializable",
    bytesMax: options.bytesMax ?? limits.TRANSACTION_BYTES_MAX_DEFAULT,
    keysMax: options.keysMax ?? limits.TRANSACTION_KEYS_MAX_DEFAULT,
    owner: 1n,
    attempt: 0,
    step: 1,
    payload: new Uint8Array(options.payload ?? []),
    overlay: new Map(view.overlay),
    bases: new Map(view.bases),
    bytes: view.bytes,
    writes: [],
    snapshots: new Map(),
    held: false,
    volatile: { reads: new Map(), attempt: 0 },
    ended: false,
  };
}
