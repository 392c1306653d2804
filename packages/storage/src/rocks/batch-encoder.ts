// Owns turning a batch of the contract into the bytes that cross the boundary. Every limit is
// checked while encoding, which is before anything is written (S11, K3).

import { AgentTxError } from "@agenttx/model";
import type {
  BatchExtras,
  BeginOptions,
  Bytes,
  CommitBatch,
  EndedBatch,
  Fence,
  RecordKey,
  RecordWrite,
  StepBatch,
  Write,
} from "../contract.js";
import { checkValue, recordNameBytes, wholeNumber } from "../keys.js";
import { spaceNumber } from "./arguments.js";
import { BATCH_OP } from "./batch-format.js";
import { ByteWriter } from "./byte-writer.js";

const U32_MAX = 0xffff_ffff;
const U64_MAX = 0xffff_ffff_ffff_ffffn;
const HAS_OWNER = 1;
const HAS_ATTEMPT = 2;
const HAS_STEP = 4;
const NO_BYTES = new Uint8Array(0);

/** One per store: encode, hand `bytes` and `length` to one native call, encode the next. */
export class BatchEncoder {
  readonly #out = new ByteWriter();

  get bytes(): Uint8Array {
    return this.#out.bytes;
  }

  get length(): number {
    return this.#out.length;
  }

  /** Writes, extras and snapshot of one step. */
  step(batch: StepBatch): this {
    this.#out.reset();
    if (batch.writes !== undefined) this.#writes(batch.writes);
    this.#extras(batch);
    this.#snapshot(batch.snapshot);
    return this;
  }

  /** One write and nothing else: `null` deletes. */
  single(write: Write): this {
    this.#out.reset();
    this.#write(write);
    return this;
  }

  /** What a restore carries, or a batch of records alone. */
  extras(extras: BatchExtras & { readonly snapshot?: number }): this {
    this.#out.reset();
    this.#extras(extras);
    this.#snapshot(extras.snapshot);
    return this;
  }

  /** What a commit or discard carries: the header ends with it, so nothing of it is changed. */
  ending({ payload: _payload, next: _next, ...extras }: BatchExtras): this {
    return this.extras(extras);
  }

  commit({ stamped, ...extras }: CommitBatch): this {
    this.ending(extras);
    if (stamped !== undefined) this.#stamped(stamped);
    return this;
  }

  begin(options: BeginOptions): this {
    this.#out.reset();
    const { payload, records, audit } = options;
    if (payload !== undefined) this.#sized(BATCH_OP.payload, payload);
    if (records !== undefined) this.#records(records);
    if (audit !== undefined) this.#each(BATCH_OP.audit, audit);
    return this;
  }

  /** What is written of a transaction that has ended. */
  ended({ records, audit, storeAudit, eraseAudit }: EndedBatch): this {
    this.extras({
      ...(records && { records }),
      ...(audit && { audit }),
      ...(storeAudit && { storeAudit }),
    });
    if (eraseAudit === true) this.#out.u8(BATCH_OP.chainErase);
    return this;
  }

  #writes(writes: readonly Write[]): void {
    for (const write of writes) this.#write(write);
  }

  #write({ key, value }: Write): void {
    const out = this.#out;
    if (value === null) {
      out.u8(BATCH_OP.delete);
      out.key(key);
      return;
    }
    checkValue(value);
    out.u8(BATCH_OP.put);
    out.key(key);
    out.sized(value);
  }

  #extras(extras: BatchExtras): void {
    const { fence, next, payload, records, audit, storeAudit, evidence } = extras;
    if (fence !== undefined) this.#fence(fence);
    if (next !== undefined) this.#next(next);
    if (payload !== undefined) this.#sized(BATCH_OP.payload, payload);
    if (records !== undefined) this.#records(records);
    if (audit !== undefined) this.#each(BATCH_OP.audit, audit);
    if (storeAudit !== undefined) this.#each(BATCH_OP.storeAudit, storeAudit);
    if (evidence !== undefined) this.#sized(BATCH_OP.evidence, evidence);
  }

  #records(records: readonly RecordWrite[]): void {
    for (const record of records) {
      if (record.value === null) this.#name(BATCH_OP.recordDelete, record);
      else this.#record(BATCH_OP.recordPut, record, record.value);
    }
  }

  #stamped(records: NonNullable<CommitBatch["stamped"]>): void {
    for (const record of records) this.#record(BATCH_OP.recordStamped, record, record.value);
  }

  #record(op: number, name: RecordKey, value: Bytes): void {
    checkValue(value);
    this.#name(op, name);
    this.#out.sized(value);
  }

  #name(op: number, { space, step = 0, seq = 0, name = "" }: RecordKey): void {
    const out = this.#out;
    out.u8(op);
    out.u8(spaceNumber(space));
    out.u32(wholeNumber(step, "step of the record", 0, U32_MAX));
    out.u64(wholeNumber(seq, "seq of the record", 0, Number.MAX_SAFE_INTEGER));
    out.sized(name === "" ? NO_BYTES : recordNameBytes(name));
  }

  #each(op: number, payloads: readonly Bytes[]): void {
    for (const payload of payloads) this.#sized(op, payload);
  }

  #sized(op: number, payload: Bytes): void {
    checkValue(payload);
    this.#out.u8(op);
    this.#out.sized(payload);
  }

  #fence({ owner, attempt, step }: Fence): void {
    const out = this.#out;
    out.u8(BATCH_OP.fence);
    out.bigU64(token(owner));
    out.u64(wholeNumber(attempt, "attempt of the fence", 0, Number.MAX_SAFE_INTEGER));
    out.u32(wholeNumber(step, "step of the fence", 0, U32_MAX));
  }

  #next({ owner, attempt, step }: NonNullable<BatchExtras["next"]>): void {
    const out = this.#out;
    out.u8(BATCH_OP.next);
    out.u8(
      (owner === undefined ? 0 : HAS_OWNER) |
        (attempt === undefined ? 0 : HAS_ATTEMPT) |
        (step === undefined ? 0 : HAS_STEP),
    );
    if (owner === undefined) out.u64(0);
    else out.bigU64(token(owner));
    out.u64(wholeNumber(attempt ?? 0, "next attempt", 0, Number.MAX_SAFE_INTEGER));
    out.u32(wholeNumber(step ?? 0, "next step", 0, U32_MAX));
  }

  #snapshot(step: number | undefined): void {
    if (step === undefined) return;
    this.#out.u8(BATCH_OP.snapshot);
    this.#out.u32(wholeNumber(step, "snapshot", 0, U32_MAX));
  }
}

function token(owner: bigint): bigint {
  if (typeof owner === "bigint" && owner >= 0n && owner <= U64_MAX) return owner;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "A fencing token is a bigint from 0 to 2^64-1; nothing was written.",
  );
}
