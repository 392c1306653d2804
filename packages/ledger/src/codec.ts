// Owns the payloads of spaces `effect` and `saga`: JSON with `v: 1` (E2, E1b).

import type { EffectRecord, Resolution, UndoAction } from "@agenttx/model";
import { effectSeqOf } from "./effect-id.js";
import {
  isJson,
  isList,
  isNatural,
  isNullable,
  isNumber,
  isOneOf,
  isText,
  type Members,
  requireMembers,
} from "./fields.js";
import { decodeRecord, encodeRecord, malformed } from "./json-bytes.js";

const STATES = [
  "staged",
  "dropped",
  "requested",
  "confirmed",
  "failed",
  "indeterminate",
  "absent",
  "compensating",
  "compensated",
  "unresolved",
  "resolved",
] as const satisfies readonly EffectRecord["state"][];

const KINDS = [
  "happened",
  "did-not-happen",
  "compensated-by-hand",
  "accepted-as-is",
  "retry",
] as const satisfies readonly Resolution["kind"][];

const RESOLUTION: Members<Resolution> = {
  kind: isOneOf(KINDS),
  actor: isText,
  note: isText,
  atMs: isNumber,
};

const EFFECT: Members<EffectRecord> = {
  effectId: isText,
  transaction: isText,
  namespace: isText,
  step: isNatural,
  attempt: isNatural,
  tool: isText,
  toolVersion: isText,
  effectClass: isOneOf(["read-only", "reversible", "irreversible"]),
  state: isOneOf(STATES),
  idempotencyKey: isText,
  requestDigest: isText,
  request: isJson,
  secretPaths: isList(isText),
  receipt: isJson,
  dependsOn: isList(isText),
  compensation: isOneOf(["auto", "ask"]),
  owner: isNullable(isText),
  undoUntilMs: isNullable(isNumber),
  forwardRecovery: isNullable(isText),
  outcomeKnown: isOneOf([true, false]),
  undoAttempts: isNatural,
  undone: isList(isNatural),
  problem: isNullable(isText),
  waitsFor: isNullable(isOneOf(["retry", "person", "tool"])),
  resolution: isNullable((value) => hasMembers(value, RESOLUTION)),
  createdAtMs: isNumber,
  updatedAtMs: isNumber,
};

const UNDO: Members<UndoAction> = {
  seq: isNatural,
  effectId: isText,
  step: isNatural,
  tool: isText,
  toolVersion: isText,
  action: isText,
  args: isJson,
  secretPaths: isList(isText),
};

/** Bytes of space `effect`. Throws INVALID_ARGUMENT when a member is no JSON. */
export function encodeEffect(record: EffectRecord): Uint8Array {
  return encodeRecord(record);
}

/** Throws STORE_CORRUPT or FORMAT_TOO_NEW. Members of newer versions stay on the result. */
export function decodeEffect(bytes: Uint8Array): EffectRecord {
  const record = requireMembers(decodeRecord(bytes, "effect record"), EFFECT, "effect record");
  requireEffectId(record.effectId, "effect record");
  return record;
}

/** Bytes of space `saga`. Throws INVALID_ARGUMENT when a member is no JSON. */
export function encodeUndo(action: UndoAction): Uint8Array {
  return encodeRecord(action);
}

/** Throws STORE_CORRUPT or FORMAT_TOO_NEW. Members of newer versions stay on the result. */
export function decodeUndo(bytes: Uint8Array): UndoAction {
  const action = requireMembers(decodeRecord(bytes, "undo action"), UNDO, "undo action");
  requireEffectId(action.effectId, "undo action");
  return action;
}

function requireEffectId(effectId: string, what: string): void {
  try {
    effectSeqOf(effectId);
  } catch {
    throw malformed(what, "its effect id is malformed");
  }
}

function hasMembers(value: unknown, members: Members<Resolution>): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(members).every(([name, holds]) => holds(Reflect.get(value, name)));
}
