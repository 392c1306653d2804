// Owns what a store and its transactions share: the native handle, the encoder, the scratch for
// point reads, and the order of calls. JavaScript is single-threaded and each use ends within one
// call, so one of each is enough.

import type { NativeRead, NativeStore } from "@agenttx/native";
import type { Bytes } from "../contract.js";
import { BatchEncoder } from "./batch-encoder.js";
import { ByteWriter } from "./byte-writer.js";
import { CallGate } from "./call-gate.js";

/** Keys fit, and so do most values; larger values come in memory of their own. */
const SCRATCH_BYTES = 16 * 1024;
const HEADER_NUMBERS = 5;

export class StoreAccess {
  readonly native: NativeStore;
  readonly gate = new CallGate();
  readonly encoder = new BatchEncoder();
  /** Key in, value out. */
  readonly scratch = new Uint8Array(SCRATCH_BYTES);
  readonly packedKeys = new ByteWriter();
  readonly headerNumbers = new BigUint64Array(HEADER_NUMBERS);
  readonly version = new BigUint64Array(1);

  constructor(native: NativeStore) {
    this.native = native;
  }

  /** Bytes of their own, from what a point read left. */
  value(read: NativeRead): Bytes | null {
    return typeof read === "number" ? this.scratch.slice(0, read) : read;
  }
}
