// Owns the RocksDB driver's store. Key layout exists in C++ only; here are arguments, their checks
// and the order of calls.

import type { NativeStore, NativeTransaction } from "@agenttx/native";
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
import { normalRange, pageLimit, transactionIdBytes, wholeNumber } from "../keys.js";
import {
  absolutePath,
  beginArguments,
  checkedNamespace,
  recordArguments,
  spaceNumber,
} from "./arguments.js";
import { writeKey } from "./byte-writer.js";
import { readAuditEntries, readEntries, readRecords, readTransactions } from "./result-reader.js";
import { StoreAccess } from "./store-access.js";
import { RocksTransaction } from "./transaction.js";

export class RocksStore implements Store {
  readonly driver = "rocksdb";
  readonly path: string;
  readonly syncWrites: boolean;
  readonly #access: StoreAccess;
  #closing: Promise<void> | null = null;

  constructor(
    native: NativeStore,
    options: { readonly path: string; readonly syncWrites: boolean },
  ) {
    this.#access = new StoreAccess(native);
    this.path = options.path;
    this.syncWrites = options.syncWrites;
  }

  get incarnation(): bigint {
    return this.#access.native.incarnation();
  }

  get warnings(): readonly string[] {
    return this.#access.native.warnings();
  }

  begin(id: string, options: BeginOptions = {}): Promise<StoreTransaction> {
    return this.#transaction(id, options, (native, namespace) => {
      const { serializable, bytesMax, keysMax } = beginArguments(options);
      const { bytes, length } = this.#access.encoder.begin(options);
      return native.begin(namespace, id, serializable, bytesMax, keysMax, bytes, length);
    });
  }

  attach(id: string, options: NamespaceOption = {}): Promise<StoreTransaction> {
    return this.#transaction(id, options, (native, namespace) => native.attach(namespace, id));
  }

  fork(
    from: string,
    step: number,
    id: string,
    options: BeginOptions = {},
  ): Promise<StoreTransaction> {
    return this.#transaction(id, options, (native, namespace) => {
      transactionIdBytes(from);
      wholeNumber(step, "snapshot", 0, 0xffff_ffff);
      const { serializable, bytesMax, keysMax } = beginArguments(options);
      const { bytes, length } = this.#access.encoder.begin(options);
      return native.fork(namespace, from, step, id, serializable, bytesMax, keysMax, bytes, length);
    });
  }

  claim(
    id: string,
    options: NamespaceOption & { readonly takeOver?: boolean } = {},
  ): Promise<boolean> {
    return this.#run((native) => {
      transactionIdBytes(id);
      return native.claim(checkedNamespace(options.namespace), id, options.takeOver === true);
    });
  }

  tryLock(name: string): Promise<(() => void) | null> {
    return this.#run((native) => {
      const token = native.tryLock(name);
      return token === 0 ? null : () => native.unlock(name, token);
    });
  }

  openTransactions(
    page: Parameters<Store["openTransactions"]>[0] = {},
  ): Promise<OpenTransaction[]> {
    return this.#run(async (native) => {
      const limit = pageLimit(page.limit);
      const namespace = page.after?.namespace ?? "";
      const packed = await native.openTransactions(namespace, page.after?.id ?? null, limit);
      return readTransactions(packed);
    });
  }

  get(key: Key, options: NamespaceOption = {}): Promise<Bytes | null> {
    return this.#run((native) => this.#read(native, key, options));
  }

  getVersioned(
    key: Key,
    options: NamespaceOption = {},
  ): Promise<{ value: Bytes; version: bigint } | null> {
    return this.#run((native) => {
      const value = this.#read(native, key, options);
      return value === null ? null : { value, version: this.#access.version[0] ?? 0n };
    });
  }

  scan(range: ScanRange & NamespaceOption = {}): Promise<ScanEntry[]> {
    return this.#run(async (native) => {
      const namespace = checkedNamespace(range.namespace);
      const { start, end, reverse, limit } = normalRange(range);
      return readEntries(await native.scanCommitted(namespace, start, end, reverse, limit));
    });
  }

  readRecord(transaction: string, key: RecordKey & NamespaceOption): Promise<Bytes | null> {
    return this.#run((native) => {
      const { space, step, seq, name } = recordArguments(key);
      return native.readRecord(
        checkedNamespace(key.namespace),
        transaction,
        space,
        step,
        seq,
        name,
      );
    });
  }

  scanRecords(
    space: RecordSpace,
    range: Parameters<Store["scanRecords"]>[1],
  ): Promise<RecordEntry[]> {
    return this.#run(async (native) => {
      const { transaction, after } = range;
      const packed = await native.scanRecords(
        checkedNamespace(range.namespace),
        transaction,
        spaceNumber(space),
        wholeNumber(range.fromStep ?? 0, "fromStep", 0, 0xffff_ffff),
        after?.transaction ?? null,
        after?.step ?? 0,
        after?.seq ?? 0,
        after?.name ?? "",
        pageLimit(range.limit),
      );
      return readRecords(packed);
    });
  }

  writeRecords(transaction: string, batch: EndedBatch): Promise<void> {
    return this.#run((native) => {
      if (transaction !== "") transactionIdBytes(transaction);
      const { bytes, length } = this.#access.encoder.ended(batch);
      return native.writeRecords(checkedNamespace(batch.namespace), transaction, bytes, length);
    });
  }

  readAudit(
    transaction: string | null,
    range: Parameters<Store["readAudit"]>[1] = {},
  ): Promise<AuditEntry[]> {
    return this.#run(async (native) => {
      const from = wholeNumber(range.fromSeq ?? 1, "fromSeq", 0, Number.MAX_SAFE_INTEGER);
      const namespace = checkedNamespace(range.namespace);
      const limit = pageLimit(range.limit);
      return readAuditEntries(await native.readAudit(namespace, transaction, from, limit));
    });
  }

  checkpoint(path: string): Promise<void> {
    return this.#run((native) => native.checkpoint(absolutePath(path)));
  }

  stats(): Promise<StoreStats> {
    return this.#run(async (native) => {
      const [version, open, walSyncs, batches, diskBytes, memoryBytes, handles, poisoned] =
        await native.stats();
      return {
        commitVersion: version,
        openTransactions: Number(open),
        poisoned,
        walSyncs: Number(walSyncs),
        batches: Number(batches),
        diskBytes: Number(diskBytes),
        memoryBytes: Number(memoryBytes),
        driver: { transactionHandles: Number(handles) },
      };
    });
  }

  reopen(): Promise<void> {
    return this.#access.gate.exclusively(() => this.#access.native.reopen());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { gate, native } = this.#access;
    gate.close();
    await gate.drained();
    await native.close();
  }

  #run<T>(call: (native: NativeStore) => T | Promise<T>): Promise<T> {
    return this.#access.gate.run(() => call(this.#access.native));
  }

  #read(native: NativeStore, key: Key, options: NamespaceOption): Bytes | null {
    const { scratch, version } = this.#access;
    const namespace = checkedNamespace(options.namespace);
    const length = writeKey(scratch, 0, key);
    return this.#access.value(native.getCommitted(namespace, scratch, length, version));
  }

  #transaction(
    id: string,
    options: NamespaceOption,
    open: (
      native: NativeStore,
      namespace: string,
    ) => NativeTransaction | Promise<NativeTransaction>,
  ): Promise<StoreTransaction> {
    return this.#run((native) => {
      transactionIdBytes(id);
      const namespace = checkedNamespace(options.namespace);
      const handle = (opened: NativeTransaction) =>
        new RocksTransaction(this.#access, opened, { id, namespace });
      const opened = open(native, namespace);
      return opened instanceof Promise ? opened.then(handle) : handle(opened);
    });
  }
}
