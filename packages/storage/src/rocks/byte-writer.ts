// Owns the growing buffer that batches and packed keys are written into. It is reused: no object
// is made per operation. All integers are little-endian.
//
// INVARIANT: `bytes` from 0 to `length` is what was written since the last `reset`.

import { AgentTxError, limits } from "@agenttx/model";
import type { Bytes, Key } from "../contract.js";
import { keyBytes } from "../keys.js";

const INITIAL_BYTES = 64 * 1024;
/** A buffer that a large batch made larger than this is not kept. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** Largest buffer that one call can carry: lengths inside are 32 bits wide. */
const BUFFER_BYTES_MAX = 0xffff_ffff;
const TWO_32 = 0x1_0000_0000;

/**
 * Writes the bytes of a key at `at` and returns their number. ASCII text is copied without an
 * encoder. Throws INVALID_KEY. REQUIRES: 4,096 bytes of room.
 */
export function writeKey(target: Uint8Array, at: number, key: Key): number {
  if (typeof key === "string" && key.length <= limits.KEY_BYTES_MAX) {
    let index = 0;
    for (; index < key.length; index += 1) {
      const unit = key.charCodeAt(index);
      if (unit >= 0x80) break;
      target[at + index] = unit;
    }
    if (index === key.length && index > 0) return index;
  }
  const bytes = keyBytes(key);
  target.set(bytes, at);
  return bytes.byteLength;
}

export class ByteWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Starts over; gives back memory that an unusually large batch took. */
  reset(): void {
    if (this.#bytes.byteLength > KEPT_BYTES_MAX) this.#bytes = new Uint8Array(INITIAL_BYTES);
    this.#length = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#storeU32(this.#length, value);
    this.#length += 4;
  }

  /** REQUIRES: a whole number from 0 to 2^53-1. */
  u64(value: number): void {
    this.u32(value >>> 0);
    this.u32(Math.floor(value / TWO_32));
  }

  /** REQUIRES: from 0 to 2^64-1. */
  bigU64(value: bigint): void {
    this.u32(Number(value & 0xffff_ffffn));
    this.u32(Number(value >> 32n));
  }

  /** Length and bytes. */
  sized(value: Bytes): void {
    const { byteLength } = value;
    this.#reserve(4 + byteLength);
    this.#storeU32(this.#length, byteLength);
    this.#bytes.set(value, this.#length + 4);
    this.#length += 4 + byteLength;
  }

  /** Length and bytes of a key. Throws INVALID_KEY. */
  key(key: Key): void {
    this.#reserve(4 + limits.KEY_BYTES_MAX);
    const length = writeKey(this.#bytes, this.#length + 4, key);
    this.#storeU32(this.#length, length);
    this.#length += 4 + length;
  }

  #storeU32(at: number, value: number): void {
    const bytes = this.#bytes;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.byteLength) return;
    if (needed > BUFFER_BYTES_MAX) {
      throw new AgentTxError(
        "PAYLOAD_TOO_LARGE",
        `One batch has at most ${BUFFER_BYTES_MAX} bytes; nothing was written. Write it in parts.`,
        { details: { bytesMax: BUFFER_BYTES_MAX } },
      );
    }
    const grown = new Uint8Array(
      Math.min(BUFFER_BYTES_MAX, Math.max(needed, this.#bytes.byteLength * 2)),
    );
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
