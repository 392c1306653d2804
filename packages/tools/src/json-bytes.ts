// Owns JSON as bytes: what kv and record tools keep in the transaction's state.

import type { JsonValue } from "@agenttx/model";

const DECODER = new TextDecoder("utf-8", { fatal: true });

export function encodeJson(value: JsonValue): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Throws when the bytes are not UTF-8 JSON: someone else wrote them. */
export function decodeJson(bytes: Uint8Array): JsonValue {
  return JSON.parse(DECODER.decode(bytes)) as JsonValue;
}
