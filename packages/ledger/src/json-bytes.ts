// Owns the envelope of every ledger record on disk: UTF-8 JSON of one object with `v: 1`.
//
//   J1 A newer `v` is refused with FORMAT_TOO_NEW; members this version does not know are kept.
//   J2 Malformed bytes are refused with STORE_CORRUPT and name what is wrong, never the content.

import { AgentTxError, limits } from "@agenttx/model";

/** The version that this code writes. */
export const RECORD_VERSION = 1;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Bytes of a record. Throws INVALID_ARGUMENT for what JSON cannot hold: deeper than
 * `JSON_DEPTH_MAX`, a number that is not finite, a value that is no JSON.
 */
export function encodeRecord(record: object): Uint8Array {
  checkJson(record, limits.JSON_DEPTH_MAX + 1, "record");
  return ENCODER.encode(JSON.stringify({ ...record, v: RECORD_VERSION }));
}

/** The members of a record, `v` taken off. Throws STORE_CORRUPT or FORMAT_TOO_NEW. */
export function decodeRecord(bytes: Uint8Array, what: string): Record<string, unknown> {
  const value = parse(bytes, what);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed(what, "it is no object");
  }
  const { v, ...members } = value as Record<string, unknown>;
  if (typeof v !== "number" || !Number.isSafeInteger(v) || v < 1) {
    throw malformed(what, "it has no version");
  }
  if (v > RECORD_VERSION) {
    throw new AgentTxError(
      "FORMAT_TOO_NEW",
      `The ${what} has version ${v}; this version reads up to ${RECORD_VERSION}. Nothing was changed; run the newer version.`,
      { details: { version: v, versionMax: RECORD_VERSION } },
    );
  }
  return members;
}

export function malformed(what: string, why: string): AgentTxError {
  return new AgentTxError(
    "STORE_CORRUPT",
    `A stored ${what} cannot be read: ${why}. It is left as it is; other records are not affected.`,
    { details: { record: what } },
  );
}

function parse(bytes: Uint8Array, what: string): unknown {
  let text: string;
  try {
    text = DECODER.decode(bytes);
  } catch {
    throw malformed(what, "it is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(what, "it is not JSON");
  }
}

/** Throws INVALID_ARGUMENT when `value` would not come back from JSON as it is. */
export function checkJson(value: unknown, depthLeft: number, what: string): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (typeof value === "object" && depthLeft > 0) {
    if (Array.isArray(value)) {
      for (const member of value) checkJson(member, depthLeft - 1, what);
      return;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      for (const member of Object.values(value)) {
        // JSON leaves members out that are undefined; every reader treats them as absent.
        if (member !== undefined) checkJson(member, depthLeft - 1, what);
      }
      return;
    }
  }
  const why =
    typeof value === "object" && depthLeft <= 0
      ? `is nested deeper than ${limits.JSON_DEPTH_MAX}`
      : `holds a ${typeof value} that JSON cannot keep`;
  throw new AgentTxError("INVALID_ARGUMENT", `The ${what} ${why}; nothing was written.`);
}
