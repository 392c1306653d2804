// Owns the audit chain's formula (C9). Every driver computes the same bytes.
//
//   hash(n) = SHA-256(hash(n-1) || seq as u64 big-endian || SHA-256(payload))
//   hash(0) = 32 zero bytes; seq counts from 1.
//
// The payload enters by its digest, so that it can be erased and the chain still verified.

import { createHash } from "node:crypto";
import type { Bytes } from "../contract.js";
import type { AuditState } from "./state.js";

/** Hash before the first entry of a chain. */
export const AUDIT_HASH_ZERO: Bytes = new Uint8Array(32);

/** The hash of entry `seq` (from 1) after an entry with hash `previous`. */
export function auditHash(previous: Bytes, seq: number, payload: Bytes): Bytes {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(seq));
  const digest = createHash("sha256").update(payload).digest();
  return new Uint8Array(
    createHash("sha256").update(previous).update(number).update(digest).digest(),
  );
}

/** Appends entries, hashed, to `chain`. */
export function appendAudit(chain: AuditState[], payloads: readonly Bytes[]): void {
  for (const payload of payloads) {
    const previous = chain.at(-1)?.hash ?? AUDIT_HASH_ZERO;
    chain.push({
      payload: new Uint8Array(payload),
      hash: auditHash(previous, chain.length + 1, payload),
    });
  }
}
