// Owns how a message becomes bytes: one writer, reused.
// A fresh writer regrows its buffer for every message; reusing one makes encoding several times
// cheaper. INVARIANT: encoding is synchronous, and a writer that threw half-way is thrown away, so
// that no message can begin with the rest of another.

import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The two functions of a generated message that are used. */
export interface MessageCodec<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(input: Uint8Array, length?: number): T;
}

let writer = new BinaryWriter();

/** Bytes of one message; the caller owns them. Throws what the generated code throws. */
export function encodeMessage<T>(codec: MessageCodec<T>, message: T): Buffer {
  try {
    const bytes = codec.encode(message, writer).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    writer = new BinaryWriter();
    throw error;
  }
}
