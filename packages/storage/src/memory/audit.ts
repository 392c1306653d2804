// Owns the audit chain's formula (C9). Every driver computes the same bytes.
//
//   hash(n) = SHA-256(hash(n-1) || seq as u64 big-endian || SHA-256(payload))
//   hash(0) = SHA-256(identity); seq counts from 1. The identity of a transaction's chain is
//   nsLength:u8 ns idLength:u8 id, that of the store's chain is the word "store": an entry of one
//   chain cannot stand in another.
//
// The payload enters by its digest, so that it can be erased and the chain still verified.

import { createHash } from "node:crypto";
import type { Bytes } from "../contract.js";
import type { AuditState } from "./state.js";

/** Hash before the first entry of a transaction's chain, or of the store's when null. */
export function auditStart(transaction: string | null, namespace = ""): Bytes {
  const identity =
    transaction === null
      ? Buffer.from("store")
      : Buffer.concat([lengthPrefixed(namespace), lengthPrefixed(transaction)]);
  return new Uint8Array(createHash("sha256").update(identity).digest());
}

/** Names have at most 255 bytes, which the store has checked. */
function lengthPrefixed(name: string): Buffer {
  const bytes = Buffer.from(name, "utf8");
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** The hash of entry `seq` (from 1) after an entry with hash `previous`. */
export function auditHash(previous: Bytes, seq: number, payload: Bytes): Bytes {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(seq));
  const digest = createHash("sha256").update(payload).digest();
  return new Uint8Array(
    createHash("sha256").update(previous).update(number).update(digest).digest(),
  );
}

/** Appends entries, hashed, to `chain`, which begins at `start`. */
export function appendAudit(
  chain: AuditState[],
  payloads: readonly Bytes[],
  start: Bytes = STORE_START,
): void {
  for (const payload of payloads) {
    const previous = chain.at(-1)?.hash ?? start;
    chain.push({
      payload: new Uint8Array(payload),
      hash: auditHash(previous, chain.length + 1, payload),
    });
  }
}

const STORE_START = auditStart(null);
