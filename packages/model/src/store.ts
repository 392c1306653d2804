// Owns the Store contract: what every storage driver promises (rules S1-S12, E6).
// A driver is right when it passes the conformance suite of @agenttx/storage. The engine's storage
// port is this same interface.
//
// Promises every implementation keeps:
//   I1 One call, one atomic batch: all of it is there, or none of it.
//   I2 What a resolved promise acknowledged survives kill -9 (RocksDB driver; S9).
//   I3 Bytes returned are the caller's own copies; bytes given may be reused after the call resolves.
//   I4 A refusal (thrown AgentTxError) changed nothing, except a late evidence row (E6).

export type Bytes = Uint8Array;
/** Text keys are UTF-8; ill-formed text (a lone surrogate) is refused with INVALID_KEY. */
export type Key = string | Uint8Array;

/** Names whose batch this is. Each is compared with the transaction's header (E6). */
export interface Fence {
  /** Owner's fencing token; 1 until ownership changes hands. */
  readonly owner: bigint;
  /** The attempt that is running. */
  readonly attempt: number;
  /** The step the transaction expects. */
  readonly step: number;
}

/** The header a driver keeps of each open transaction. */
export interface TransactionHeader extends Fence {
  /** Open of the store that this handle belongs to; an older handle is refused. */
  readonly incarnation: bigint;
  /** Newest snapshot; S3. */
  readonly snapshot: number;
  /** Opaque to the driver: the engine's status, counters, constraints (payload of `t/{tx}`). */
  readonly payload: Bytes;
}

export interface Write {
  readonly key: Key;
  /** null deletes: a tombstone in the overlay. */
  readonly value: Bytes | null;
}

/**
 * Families of records beside the state. Their keys are laid out by the driver:
 * `output`  step          x/{tx}/o/{step}: packed step record; dropped by restore from the target on
 * `saga`    step, seq     u/{tx}/{step}/{seq}: undo actions; only removed when asked, or by commit
 * `effect`  seq           e/{tx}/{seq}: effect ledger; outlives the transaction
 * `outbox`  seq           q/{tx}/{seq}: effects to deliver after commit; outlives the transaction
 * `request` name          r/{tx}/{name}: answers by request id; outlives the transaction
 * `terminal`              f/{tx}: how the transaction ended (outside t/)
 * `late`    seq           l/{tx}/{seq}: late evidence (E6); written by the driver, numbered from 1
 *                         per transaction, also across its end and restarts
 * `meta`    name          w/{name}: outside any transaction, whatever batch writes it: readable
 *                         and listed under transaction ""
 */
export type RecordSpace =
  | "output"
  | "saga"
  | "effect"
  | "outbox"
  | "request"
  | "terminal"
  | "late"
  | "meta";

/** The fields that its space lists above name a record; others that are given are ignored. */
export interface RecordKey {
  readonly space: RecordSpace;
  /** Default 0. 0..2^32-1. */
  readonly step?: number;
  /** Default 0. 0..2^53-1 in this API; stored as u64. */
  readonly seq?: number;
  /** Default "". */
  readonly name?: string;
}

export interface RecordWrite extends RecordKey {
  /** null removes the record. */
  readonly value: Bytes | null;
}

export interface RecordEntry {
  readonly transaction: string;
  readonly step: number;
  readonly seq: number;
  readonly name: string;
  readonly value: Bytes;
}

/** What any batch may carry for the layers above (S4, last sentence). */
export interface BatchExtras {
  /** Omitted: the values of the handle itself, so only the incarnation is compared. */
  readonly fence?: Fence;
  /** New values of the header; omitted ones stay. `attempt` must not shrink. */
  readonly next?: { readonly owner?: bigint; readonly attempt?: number; readonly step?: number };
  /** Replaces the opaque payload. */
  readonly payload?: Bytes;
  readonly records?: readonly RecordWrite[];
  /** Entries appended to the transaction's audit chain, hashed by the driver (C9). */
  readonly audit?: readonly Bytes[];
  /** Entries appended to the store's chain (terminal and recovery events). */
  readonly storeAudit?: readonly Bytes[];
  /** Stored in space `late` when the fence refuses this batch. */
  readonly evidence?: Bytes;
}

/** What may be written of a transaction that has ended, or of none. */
export interface EndedBatch
  extends NamespaceOption,
    Pick<BatchExtras, "records" | "audit" | "storeAudit"> {
  /**
   * Removes the transaction's audit chain (C10); after that its id can begin again. Not together
   * with `audit`. Harmless when there is no chain.
   */
  readonly eraseAudit?: boolean;
}

/** One step, one batch. */
export interface StepBatch extends BatchExtras {
  readonly writes?: readonly Write[];
  /**
   * Takes a snapshot under this step number after the writes (S3). Not above the newest one:
   * INVALID_ARGUMENT, and nothing of the batch is written.
   */
  readonly snapshot?: number;
}

export interface CommitBatch extends BatchExtras {
  /**
   * Records that say which commit this was: stored is its version, u64 big-endian, and then the
   * value.
   */
  readonly stamped?: readonly (RecordKey & { readonly value: Bytes })[];
}

export interface RestoreOptions extends BatchExtras {
  /** After the restore, in the same batch, take this snapshot too (a reset to 0 needs 1 again). */
  readonly snapshot?: number;
}

export interface RestoreResult {
  /** Writes made since the snapshot, counted one by one. */
  readonly writesReverted: number;
  /** Distinct keys that got their entry of the snapshot back. */
  readonly keysRestored: number;
}

export interface CommitResult {
  readonly commitVersion: bigint;
  readonly keysPublished: number;
}

export interface ScanRange {
  /** Half-open: start included, end excluded. With `prefix`, both must be omitted. */
  readonly prefix?: Key;
  readonly start?: Key;
  readonly end?: Key;
  readonly reverse?: boolean;
  /**
   * Default 1,000, at most 100,000. An answer also ends with the entry that brings its keys and
   * values to 16 MiB; a shorter one than asked with fewer bytes is the end of the range.
   */
  readonly limit?: number;
}

export interface ScanEntry {
  readonly key: Bytes;
  readonly value: Bytes;
}

export interface ReadOptions {
  /** The commit fails when this key is no longer as it was read (S8). */
  readonly validate?: boolean;
}

/** One open transaction. Calls of one handle are made one after another by its owner. */
export interface StoreTransaction extends AsyncDisposable {
  readonly id: string;
  readonly namespace: string;
  /** Fresh copy of the in-memory header. */
  header(): TransactionHeader;
  get(key: Key, options?: ReadOptions): Promise<Bytes | null>;
  getMany(keys: readonly Key[], options?: ReadOptions): Promise<(Bytes | null)[]>;
  /**
   * Merged overlay and committed state, in byte order (S5). Entries of committed state count as
   * read, like those of `get` (S6).
   */
  scan(range?: ScanRange): Promise<ScanEntry[]>;
  put(key: Key, value: Bytes): Promise<void>;
  delete(key: Key): Promise<void>;
  write(writes: readonly Write[]): Promise<void>;
  /** O(1). Must be above the newest one, else INVALID_ARGUMENT (S3). */
  createSnapshot(step: number): Promise<void>;
  /**
   * Goes back to the snapshot: state, reads first made after it, outputs from its step on and all
   * newer snapshots, 1 too when 0 is restored. Owner, attempt and step of the header change only
   * when `next` names them. Throws SNAPSHOT_NOT_FOUND and changes nothing when there is no such
   * snapshot (S4).
   */
  restoreSnapshot(step: number, options?: RestoreOptions): Promise<RestoreResult>;
  /** The step batch: writes, records, header, audit and snapshot in one atomic write. */
  apply(batch: StepBatch): Promise<void>;
  /** Raises the attempt in memory only; durable with the next batch. Returns the new attempt. */
  beginAttempt(): number;
  /**
   * Publishes the overlay. WriteConflictError: nothing was written, still open. OUTCOME_UNKNOWN:
   * the write failed half-way; the terminal record tells after `reopen()`.
   * Removes s, o, j, m, u and t records of the transaction in the same batch (S7).
   */
  commit(batch?: CommitBatch): Promise<CommitResult>;
  /** Removes overlay, journal, snapshots, outputs and the t record; keeps u, e, q, r, f, l and audit. */
  discard(extras?: BatchExtras): Promise<void>;
  /** Distinct keys read from committed state, and written, so far: for tests and `explain`. */
  touched(): { readonly read: number; readonly written: number };
  /** Same as nothing: an open transaction stays on disk. Releases the handle. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BeginOptions {
  readonly namespace?: string;
  /**
   * `serializable`: every point read is validated at commit, in a fork also those that it inherits;
   * scans are refused (S8).
   */
  readonly isolation?: "read-committed" | "serializable";
  readonly payload?: Bytes;
  readonly records?: readonly RecordWrite[];
  readonly audit?: readonly Bytes[];
  /**
   * Cap of the overlay's bytes: for each distinct key written, the key and its newest value (0 for
   * a deletion). What a value replaces and the undo journal do not count; a restore gives back.
   * Compared once a batch, with the overlay after it: PAYLOAD_TOO_LARGE. Default 1 GiB.
   */
  readonly bytesMax?: number;
  /**
   * Cap of the distinct keys in the overlay, and, counted by themselves, of the distinct keys read
   * from committed state: PAYLOAD_TOO_LARGE. Default 1,000,000.
   */
  readonly keysMax?: number;
}

export interface OpenTransaction {
  readonly id: string;
  readonly namespace: string;
  readonly header: TransactionHeader;
}

export interface AuditEntry {
  readonly seq: number;
  readonly payload: Bytes;
  /** SHA-256 over previous hash, sequence and payload digest. */
  readonly hash: Bytes;
}

export interface NamespaceOption {
  readonly namespace?: string;
}

export interface StoreStats {
  readonly commitVersion: bigint;
  readonly openTransactions: number;
  readonly poisoned: string | null;
  /** Fsyncs of the write-ahead log and batches written, since open. */
  readonly walSyncs: number;
  readonly batches: number;
  /** Bytes of files on disk, 0 in memory. */
  readonly diskBytes: number;
  readonly memoryBytes: number;
  /** Driver's own figures, by name. */
  readonly driver: Readonly<Record<string, number>>;
}

export interface Store extends AsyncDisposable {
  readonly driver: string;
  readonly path: string;
  readonly syncWrites: boolean;
  /** Grows with every open; makes handles of earlier opens stale. */
  readonly incarnation: bigint;
  /** What open noticed and survived (lost unsynced tail after a reboot), for the log. */
  readonly warnings: readonly string[];

  /**
   * Writes the t record and snapshots 0 and 1 (S3). Ids are used once in a namespace:
   * TRANSACTION_EXISTS when one is open or has ended, as long as its audit chain is kept (an empty
   * one counts; only `eraseAudit` removes it). A late call never meets a new transaction.
   */
  begin(id: string, options?: BeginOptions): Promise<StoreTransaction>;
  /** Handle on a transaction that is open on disk. NOT_FOUND otherwise. */
  attach(id: string, options?: NamespaceOption): Promise<StoreTransaction>;
  /**
   * A new transaction whose overlay equals the other's at that snapshot (S12). It inherits base
   * versions and reads. Refused like `begin`; PAYLOAD_TOO_LARGE when the overlay is above its caps.
   */
  fork(from: string, step: number, id: string, options?: BeginOptions): Promise<StoreTransaction>;
  /**
   * Claims an open transaction for this Store: false when another Store of this process has it and
   * `takeOver` is not set. `begin` and `fork` claim; commit, discard and the end of the Store that
   * has it (closed, or its thread gone) release; `reopen` does neither. For recovery: what another
   * Store of the same folder works on is not left over from a crash (C8). Throws NOT_FOUND.
   */
  claim(id: string, options?: NamespaceOption & { readonly takeOver?: boolean }): Promise<boolean>;
  /**
   * A lock by name among all Stores of this folder in this process: what frees it, or null when it
   * is taken, also by this Store. `reopen` and the end of the Store free it too. Never waits.
   */
  tryLock(name: string): Promise<(() => void) | null>;
  /**
   * Open transactions after `after`, at most `limit` (default 1,000), in the order of their encoded
   * names: length of the namespace, its bytes, length of the id, its bytes (UTF-8).
   */
  openTransactions(page?: {
    readonly after?: { id: string; namespace: string };
    readonly limit?: number;
  }): Promise<OpenTransaction[]>;

  get(key: Key, options?: NamespaceOption): Promise<Bytes | null>;
  /** Value and the commit version that wrote it. */
  getVersioned(
    key: Key,
    options?: NamespaceOption,
  ): Promise<{ value: Bytes; version: bigint } | null>;
  scan(range?: ScanRange & NamespaceOption): Promise<ScanEntry[]>;

  readRecord(transaction: string, key: RecordKey & NamespaceOption): Promise<Bytes | null>;
  /**
   * Records of one space in key order. `transaction` null = of all transactions (for recovery), by
   * length of id, then bytes of id; space `output` is then refused with INVALID_ARGUMENT.
   * `after` is the last entry of the page before. At most `limit` (default 1,000), fewer when they
   * are over about 16 MiB: a shorter page that weighs less says that there are no more.
   */
  scanRecords(
    space: RecordSpace,
    range: NamespaceOption & {
      readonly transaction: string | null;
      readonly fromStep?: number;
      readonly after?: RecordEntry;
      readonly limit?: number;
    },
  ): Promise<RecordEntry[]>;
  /**
   * Records and audit of a transaction that has ended, or of none (`""`); one atomic batch. Refused
   * with INVALID_ARGUMENT while the transaction is open: its batches go through its handle's fence.
   * Audit entries need a chain: NOT_FOUND when no transaction of this id ever was, or its chain has
   * been erased; INVALID_ARGUMENT for `""`.
   */
  writeRecords(transaction: string, batch: EndedBatch): Promise<void>;
  /**
   * Entries of a transaction's chain, or of the store's chain when null; pages are as long as those
   * of `scanRecords`.
   */
  readAudit(
    transaction: string | null,
    range?: NamespaceOption & { readonly fromSeq?: number; readonly limit?: number },
  ): Promise<AuditEntry[]>;

  /** On-disk copy while running; the copy opens with a new incarnation (S12). */
  checkpoint(path: string): Promise<void>;
  stats(): Promise<StoreStats>;
  /** Closes and opens the database in place, after poison or a freed disk (S10). */
  reopen(): Promise<void>;
  /** Refuses new work, waits for work in flight, frees. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
