// Owns unpacking what the addon packed (native/src/napi/packing.h). Every row gets bytes of its
// own (C3); a large page is unpacked in parts, so that the event loop is not held up.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditEntry, Bytes, OpenTransaction, RecordEntry, ScanEntry } from "../contract.js";

/** Rows unpacked in one turn of the event loop: about a millisecond. */
const ROWS_PER_TURN = 1_000;
const TWO_32 = 0x1_0000_0000;

const DECODER = new TextDecoder();

export class ResultReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8(): number {
    const value = this.#bytes[this.#at] ?? 0;
    this.#at += 1;
    return value;
  }

  u32(): number {
    const at = this.#at;
    const bytes = this.#bytes;
    this.#at = at + 4;
    return (
      ((bytes[at] ?? 0) |
        ((bytes[at + 1] ?? 0) << 8) |
        ((bytes[at + 2] ?? 0) << 16) |
        ((bytes[at + 3] ?? 0) << 24)) >>>
      0
    );
  }

  bigU64(): bigint {
    const low = this.u32();
    return (BigInt(this.u32()) << 32n) | BigInt(low);
  }

  /** Exact up to 2^53-1, which is all this API ever writes. */
  u64(): number {
    const low = this.u32();
    return this.u32() * TWO_32 + low;
  }

  sized(): Bytes {
    const start = this.#at + 4;
    const length = this.u32();
    this.#at = start + length;
    return this.#bytes.slice(start, this.#at);
  }

  text(): string {
    const start = this.#at + 4;
    const length = this.u32();
    this.#at = start + length;
    return DECODER.decode(this.#bytes.subarray(start, this.#at));
  }
}

/** Reads a count and then so many rows. */
async function readRows<Row>(packed: Uint8Array, readRow: (from: ResultReader) => Row) {
  const reader = new ResultReader(packed);
  const count = reader.u32();
  const rows: Row[] = [];
  for (let row = 0; row < count; row += 1) {
    if (row > 0 && row % ROWS_PER_TURN === 0) await nextTurn();
    rows.push(readRow(reader));
  }
  return rows;
}

/** Keys of a lost commit. */
export function readKeys(packed: Uint8Array): Bytes[] {
  const reader = new ResultReader(packed);
  return Array.from({ length: reader.u32() }, () => reader.sized());
}

export function readValues(packed: Uint8Array): Promise<(Bytes | null)[]> {
  return readRows(packed, (from) => {
    const has = from.u8() === 1;
    const value = from.sized();
    return has ? value : null;
  });
}

export function readEntries(packed: Uint8Array): Promise<ScanEntry[]> {
  return readRows(packed, (from) => ({ key: from.sized(), value: from.sized() }));
}

export function readRecords(packed: Uint8Array): Promise<RecordEntry[]> {
  return readRows(packed, (from) => ({
    transaction: from.text(),
    step: from.u32(),
    seq: from.u64(),
    name: from.text(),
    value: from.sized(),
  }));
}

export function readAuditEntries(packed: Uint8Array): Promise<AuditEntry[]> {
  return readRows(packed, (from) => ({
    seq: from.u64(),
    payload: from.sized(),
    hash: from.sized(),
  }));
}

export function readTransactions(packed: Uint8Array): Promise<OpenTransaction[]> {
  return readRows(packed, (from) => ({
    namespace: from.text(),
    id: from.text(),
    header: {
      incarnation: from.bigU64(),
      owner: from.bigU64(),
      attempt: from.u64(),
      step: from.u32(),
      snapshot: from.u32(),
      payload: from.sized(),
    },
  }));
}
