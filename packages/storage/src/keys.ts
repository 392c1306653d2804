// Owns what a key, a range, an id and a limit may look like, for every driver (S11).
//
//   K1 Text becomes UTF-8; text with a lone surrogate is refused, never replaced.
//   K2 A key has 1..4096 bytes. A bound of a range has 0..4096: an empty one bounds nothing below.
//   K3 Everything is checked before anything is written.

import { AgentTxError, limits } from "@agenttx/model";
import type { Bytes, Key, ScanRange } from "./contract.js";

const ENCODER = new TextEncoder();
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Bounds with nothing left to default. `end` null = no upper bound. */
export interface NormalRange {
  readonly start: Bytes;
  readonly end: Bytes | null;
  readonly reverse: boolean;
  readonly limit: number;
}

/** UTF-8 of well-formed text, or null when it holds a lone surrogate. */
function utf8(text: string): Bytes | null {
  return LONE_SURROGATE.test(text) ? null : ENCODER.encode(text);
}

function anyKeyBytes(key: Key, what: string): Bytes {
  const bytes = typeof key === "string" ? utf8(key) : key;
  if (bytes === null) {
    throw new AgentTxError(
      "INVALID_KEY",
      `The ${what} holds a lone surrogate and has no UTF-8 form; nothing was written. Pass bytes.`,
    );
  }
  if (!(bytes instanceof Uint8Array)) {
    throw new AgentTxError("INVALID_KEY", `A ${what} is text or bytes; nothing was written.`);
  }
  if (bytes.byteLength > limits.KEY_BYTES_MAX) {
    throw new AgentTxError(
      "INVALID_KEY",
      `The ${what} has ${bytes.byteLength} bytes, at most ${limits.KEY_BYTES_MAX} are allowed; nothing was written.`,
      { details: { bytes: bytes.byteLength, bytesMax: limits.KEY_BYTES_MAX } },
    );
  }
  return bytes;
}

/**
 * Bytes of a key (K1, K2). Bytes given are returned as they are, not copied.
 * Throws INVALID_KEY: empty, too long, ill-formed text, neither text nor bytes.
 */
export function keyBytes(key: Key): Bytes {
  const bytes = anyKeyBytes(key, "key");
  if (bytes.byteLength === 0) {
    throw new AgentTxError("INVALID_KEY", "The key is empty; nothing was written.");
  }
  return bytes;
}

/** Throws PAYLOAD_TOO_LARGE above 64 MiB and INVALID_ARGUMENT when it is not bytes. */
export function checkValue(value: Bytes): void {
  if (!(value instanceof Uint8Array)) {
    throw new AgentTxError("INVALID_ARGUMENT", "A value is bytes; nothing was written.");
  }
  if (value.byteLength > limits.VALUE_BYTES_MAX) {
    throw new AgentTxError(
      "PAYLOAD_TOO_LARGE",
      `The value has ${value.byteLength} bytes, at most ${limits.VALUE_BYTES_MAX} are allowed; nothing was written.`,
      { details: { bytes: value.byteLength, bytesMax: limits.VALUE_BYTES_MAX } },
    );
  }
}

function nameBytes(name: string, what: string, bytesMax: number): Bytes {
  const bytes = typeof name === "string" ? utf8(name) : null;
  if (bytes === null || bytes.byteLength > bytesMax) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `The ${what} is well-formed text of at most ${bytesMax} bytes of UTF-8; nothing was written.`,
      { details: { bytesMax } },
    );
  }
  return bytes;
}

/** UTF-8 of a transaction id: 1..256 bytes, any character. Throws INVALID_ARGUMENT. */
export function transactionIdBytes(id: string): Bytes {
  const bytes = nameBytes(id, "transaction id", limits.TRANSACTION_ID_BYTES_MAX);
  if (bytes.byteLength === 0) {
    throw new AgentTxError("INVALID_ARGUMENT", "The transaction id is empty; nothing was written.");
  }
  return bytes;
}

/** UTF-8 of a namespace: 0..256 bytes; empty is the default one. Throws INVALID_ARGUMENT. */
export function namespaceBytes(namespace: string): Bytes {
  return nameBytes(namespace, "namespace", limits.TRANSACTION_ID_BYTES_MAX);
}

/** UTF-8 of a record's name: 0..4096 bytes. Throws INVALID_ARGUMENT. */
export function recordNameBytes(name: string): Bytes {
  return nameBytes(name, "record name", limits.KEY_BYTES_MAX);
}

/** A whole number in `[min, max]`, else INVALID_ARGUMENT naming `what`. */
export function wholeNumber(value: number, what: string, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `${what} is a whole number from ${min} to ${max}; nothing was changed.`,
      { details: { min, max } },
    );
  }
  return value;
}

/** Page size: 1..100,000, default 1,000. Throws INVALID_ARGUMENT. */
export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return limits.SCAN_ENTRIES_DEFAULT;
  return wholeNumber(limit, "limit", 1, limits.SCAN_ENTRIES_MAX);
}

/** The least bytes above everything that starts with `prefix`, or null when there is none. */
export function prefixEnd(prefix: Bytes): Bytes | null {
  for (let last = prefix.byteLength - 1; last >= 0; last -= 1) {
    const byte = prefix[last] ?? 0xff;
    if (byte === 0xff) continue;
    // A copy: `slice` of a Buffer would share its memory with the caller.
    const end = new Uint8Array(prefix.subarray(0, last + 1));
    end[last] = byte + 1;
    return end;
  }
  return null;
}

/**
 * A range with its defaults filled in. Throws INVALID_ARGUMENT when `prefix` stands beside a bound
 * or the limit is out of range, INVALID_KEY when a bound is ill-formed or too long.
 */
export function normalRange(range: ScanRange = {}): NormalRange {
  const { prefix, start, end } = range;
  const limit = pageLimit(range.limit);
  const reverse = range.reverse ?? false;
  if (prefix !== undefined) {
    if (start !== undefined || end !== undefined) {
      throw new AgentTxError("INVALID_ARGUMENT", "A range has a prefix or bounds, not both.");
    }
    const bytes = anyKeyBytes(prefix, "prefix");
    return { start: bytes, end: prefixEnd(bytes), reverse, limit };
  }
  return {
    start: start === undefined ? new Uint8Array(0) : anyKeyBytes(start, "start of the range"),
    end: end === undefined ? null : anyKeyBytes(end, "end of the range"),
    reverse,
    limit,
  };
}
