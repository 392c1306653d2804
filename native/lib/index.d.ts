// Owns the exact types of the native surface. Internal: programs use @agenttx/storage.
// Same names and argument order as src/napi; optional values are null, never undefined.
//
//   N1 Scratch arguments are read before the call returns and may be reused after it.
//   N2 A call that returns a promise has copied its bytes before it returned.
//   N3 A handle is used by one caller, one call at a time (the driver queues).
//   N4 Errors have `code` (one of `errorCodes`); WRITE_CONFLICT also has `conflictKeys`.
//
// Packed results are described in src/napi/packing.h, batches in include/agenttx/batch_format.h.

/**
 * Length of the value, which now stands at the start of the scratch; or the value itself when it
 * is larger than the scratch; or null when there is none.
 */
export type NativeRead = number | Uint8Array | null;

export interface NativeError extends Error {
  readonly code: string;
  /** Packed keys. */
  readonly conflictKeys?: Uint8Array;
}

export interface NativeStore {
  /** Of the open that is current: it grows with `reopen()`. */
  incarnation(): bigint;
  warnings(): string[];
  begin(
    namespace: string,
    id: string,
    serializable: boolean,
    bytesMax: number,
    keysMax: number,
    batch: Uint8Array,
    batchLength: number,
  ): NativeTransaction | Promise<NativeTransaction>;
  attach(namespace: string, id: string): Promise<NativeTransaction>;
  fork(
    namespace: string,
    from: string,
    step: number,
    id: string,
    serializable: boolean,
    bytesMax: number,
    keysMax: number,
    batch: Uint8Array,
    batchLength: number,
  ): Promise<NativeTransaction>;
  /** False: another store of this process has it, and `takeOver` is not set. */
  claim(namespace: string, id: string, takeOver: boolean): boolean;
  /** A token for `unlock`; 0: somebody has the lock. */
  tryLock(name: string): number;
  unlock(name: string, token: number): undefined;
  /** Packed transactions. */
  openTransactions(
    afterNamespace: string,
    afterId: string | null,
    limit: number,
  ): Promise<Uint8Array>;
  /** `version[0]` receives the commit version that wrote the value. */
  getCommitted(
    namespace: string,
    scratch: Uint8Array,
    keyLength: number,
    version: BigUint64Array,
  ): NativeRead;
  /** Packed entries. */
  scanCommitted(
    namespace: string,
    start: Uint8Array | null,
    end: Uint8Array | null,
    reverse: boolean,
    limit: number,
  ): Promise<Uint8Array>;
  readRecord(
    namespace: string,
    id: string,
    space: number,
    step: number,
    seq: number,
    name: string,
  ): Uint8Array | null;
  /** Packed records. `id` null: of every transaction; `afterId` null: from the first. */
  scanRecords(
    namespace: string,
    id: string | null,
    space: number,
    fromStep: number,
    afterId: string | null,
    afterStep: number,
    afterSeq: number,
    afterName: string,
    limit: number,
  ): Promise<Uint8Array>;
  writeRecords(
    namespace: string,
    id: string,
    batch: Uint8Array,
    batchLength: number,
  ): Promise<undefined>;
  /** Packed audit. `id` null: the store's own chain. */
  readAudit(
    namespace: string,
    id: string | null,
    fromSeq: number,
    limit: number,
  ): Promise<Uint8Array>;
  checkpoint(path: string): Promise<undefined>;
  stats(): Promise<NativeStats>;
  reopen(): Promise<undefined>;
  /** Refuses new work, waits for work in flight. Every caller gets the same answer. */
  close(): Promise<undefined>;
}

export type NativeStats = [
  commitVersion: bigint,
  openTransactions: bigint,
  walSyncs: bigint,
  batches: bigint,
  diskBytes: bigint,
  memoryBytes: bigint,
  transactionHandles: bigint,
  poisoned: string | null,
];

export interface NativeTransaction {
  /** Fills incarnation, owner, attempt, step and snapshot; returns the payload. */
  header(numbers: BigUint64Array): Uint8Array;
  beginAttempt(): number;
  get(scratch: Uint8Array, keyLength: number, validate: boolean): NativeRead;
  /** Packed keys in, packed values out. */
  getMany(
    packedKeys: Uint8Array,
    length: number,
    validate: boolean,
  ): Uint8Array | Promise<Uint8Array>;
  /** Packed entries. */
  scan(
    start: Uint8Array | null,
    end: Uint8Array | null,
    reverse: boolean,
    limit: number,
  ): Promise<Uint8Array>;
  /** A promise when the batch is large, would have to wait, or is fsynced. */
  apply(batch: Uint8Array, batchLength: number): undefined | Promise<undefined>;
  restore(
    step: number,
    batch: Uint8Array,
    batchLength: number,
  ): Promise<[writesReverted: number, keysRestored: number]>;
  commit(
    batch: Uint8Array,
    batchLength: number,
  ): Promise<[commitVersion: bigint, keysPublished: number]>;
  discard(batch: Uint8Array, batchLength: number): Promise<undefined>;
  touched(): [read: number, written: number];
}

export interface NativeAddon {
  /** Of this surface; the loader refuses another. */
  readonly interfaceVersion: number;
  readonly batchOps: Readonly<Record<string, number>>;
  readonly recordSpaces: Readonly<Record<string, number>>;
  readonly errorCodes: readonly string[];
  open(
    path: string,
    syncWrites: boolean,
    salvage: boolean,
    freeSpaceReserveBytes: number,
    blockCacheBytes: number,
    writeBufferBytes: number,
  ): Promise<NativeStore>;
}

/** The surface version that this package was written for. */
export declare const INTERFACE_VERSION: number;

/**
 * Loads the addon: `AGENTTX_NATIVE_PATH` (then nothing else is tried), the platform package
 * `@agenttx/native-<platform>-<arch>[-libc]`, the local build. Throws an error with code
 * ADDON_NOT_FOUND that names the platform, each tried path, each reason and the fix.
 */
export declare function loadAddon(): NativeAddon;

/** `linux-x64-gnu`, `darwin-arm64`, …: the last part of the platform package's name. */
export declare function platformTriple(): string;
