// Owns the RocksDB driver's handle on one open transaction: encode, one native call, decode.
//
//   T1 Calls of one handle run one after another (Q1).
//   T2 Small calls are made on this thread; the addon moves the others away and returns a promise.

import { AgentTxError } from "@agenttx/model";
import type { NativeTransaction } from "@agenttx/native";
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
import { normalRange, wholeNumber } from "../keys.js";
import { writeKey } from "./byte-writer.js";
import { CallQueue, closedError } from "./call-gate.js";
import { toAgentTxError } from "./native-error.js";
import { readEntries, readValues } from "./result-reader.js";
import type { StoreAccess } from "./store-access.js";

const SNAPSHOT_MAX = 0xffff_ffff;

export class RocksTransaction implements StoreTransaction {
  readonly id: string;
  readonly namespace: string;
  readonly #access: StoreAccess;
  readonly #calls: CallQueue;
  /** Null once the handle was released. */
  #native: NativeTransaction | null;

  constructor(
    access: StoreAccess,
    native: NativeTransaction,
    name: { readonly id: string; readonly namespace: string },
  ) {
    this.#access = access;
    this.#native = native;
    this.#calls = new CallQueue(access.gate);
    this.id = name.id;
    this.namespace = name.namespace;
  }

  header(): TransactionHeader {
    return this.#now((native) => {
      const numbers = this.#access.headerNumbers;
      const payload = native.header(numbers);
      return {
        incarnation: numbers[0] ?? 0n,
        owner: numbers[1] ?? 0n,
        attempt: Number(numbers[2]),
        step: Number(numbers[3]),
        snapshot: Number(numbers[4]),
        payload,
      };
    });
  }

  beginAttempt(): number {
    return this.#now((native) => native.beginAttempt());
  }

  touched(): { readonly read: number; readonly written: number } {
    return this.#now((native) => {
      const [read, written] = native.touched();
      return { read, written };
    });
  }

  get(key: Key, options?: ReadOptions): Promise<Bytes | null> {
    return this.#calls.run(() => {
      const access = this.#access;
      const length = writeKey(access.scratch, 0, key);
      const validate = options?.validate ?? false;
      return access.value(this.#handle().get(access.scratch, length, validate));
    });
  }

  getMany(keys: readonly Key[], options?: ReadOptions): Promise<(Bytes | null)[]> {
    return this.#calls.run(async () => {
      const packed = this.#access.packedKeys;
      packed.reset();
      packed.u32(keys.length);
      for (const key of keys) packed.key(key);
      const validate = options?.validate ?? false;
      const values = this.#handle().getMany(packed.bytes, packed.length, validate);
      return readValues(values instanceof Uint8Array ? values : await values);
    });
  }

  scan(range?: ScanRange): Promise<ScanEntry[]> {
    return this.#calls.run(async () => {
      const { start, end, reverse, limit } = normalRange(range);
      return readEntries(await this.#handle().scan(start, end, reverse, limit));
    });
  }

  put(key: Key, value: Bytes): Promise<void> {
    return this.#single({ key, value });
  }

  delete(key: Key): Promise<void> {
    return this.#single({ key, value: null });
  }

  write(writes: readonly Write[]): Promise<void> {
    return this.apply({ writes });
  }

  createSnapshot(step: number): Promise<void> {
    return this.apply({ snapshot: step });
  }

  apply(batch: StepBatch): Promise<void> {
    return this.#calls.run(() => {
      const { bytes, length } = this.#access.encoder.step(batch);
      return this.#handle().apply(bytes, length);
    });
  }

  restoreSnapshot(step: number, options: RestoreOptions = {}): Promise<RestoreResult> {
    return this.#calls.run(async () => {
      wholeNumber(step, "snapshot", 0, SNAPSHOT_MAX);
      const { bytes, length } = this.#access.encoder.extras(options);
      const [writesReverted, keysRestored] = await this.#handle().restore(step, bytes, length);
      return { writesReverted, keysRestored };
    });
  }

  commit(batch: CommitBatch = {}): Promise<CommitResult> {
    return this.#calls.run(async () => {
      const { bytes, length } = this.#access.encoder.commit(batch);
      const [commitVersion, keysPublished] = await this.#handle().commit(bytes, length);
      return { commitVersion, keysPublished };
    });
  }

  discard(extras: BatchExtras = {}): Promise<void> {
    return this.#calls.run(() => {
      const { bytes, length } = this.#access.encoder.ending(extras);
      return this.#handle().discard(bytes, length);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#access.gate.shut) {
      this.#native = null;
      return;
    }
    await this.#calls.run(() => {
      this.#native = null;
    });
  }

  #single(write: Write): Promise<void> {
    return this.#calls.run(() => {
      const { bytes, length } = this.#access.encoder.single(write);
      return this.#handle().apply(bytes, length);
    });
  }

  /** A call that answers from memory, outside the queue. */
  #now<T>(call: (native: NativeTransaction) => T): T {
    if (this.#access.gate.shut) throw closedError();
    const native = this.#handle();
    try {
      return call(native);
    } catch (error) {
      throw toAgentTxError(error);
    }
  }

  #handle(): NativeTransaction {
    if (this.#native !== null) return this.#native;
    throw new AgentTxError("CLOSED", "The handle was released; attach to the transaction again.");
  }
}
