// Owns effect records between model and messages. 64-bit times cross as int64.

import type {
  EffectClass,
  EffectRecord,
  EffectState,
  JsonValue,
  Resolution,
  ResolutionKind,
} from "@agenttx/model";
import type { Effect, Resolution as WireResolution } from "./gen/agenttx/v1/effects.js";

export function effectToWire(record: EffectRecord): Effect {
  return {
    effectId: record.effectId,
    transactionId: record.transaction,
    stepId: record.step,
    attempt: BigInt(record.attempt),
    toolName: record.tool,
    toolVersion: record.toolVersion,
    effectClass: record.effectClass,
    state: record.state,
    idempotencyKey: record.idempotencyKey,
    requestDigest: record.requestDigest,
    requestJson: JSON.stringify(record.request),
    receiptJson: JSON.stringify(record.receipt),
    dependsOn: [...record.dependsOn],
    compensation: record.compensation,
    owner: record.owner ?? "",
    undoUntilMs: BigInt(record.undoUntilMs ?? 0),
    undoAttempts: record.undoAttempts,
    forwardRecovery: record.forwardRecovery ?? "",
    outcomeKnown: record.outcomeKnown,
    undone: [...record.undone],
    waitsFor: record.waitsFor ?? "",
    secretPaths: [...record.secretPaths],
    problem: record.problem ?? "",
    resolution: record.resolution === null ? undefined : resolutionToWire(record.resolution),
    createdAtMs: BigInt(record.createdAtMs),
    updatedAtMs: BigInt(record.updatedAtMs),
  };
}

export function effectFromWire(message: Effect): EffectRecord {
  return {
    effectId: message.effectId,
    transaction: message.transactionId,
    step: message.stepId,
    attempt: Number(message.attempt),
    tool: message.toolName,
    toolVersion: message.toolVersion,
    effectClass: message.effectClass as EffectClass,
    state: message.state as EffectState,
    idempotencyKey: message.idempotencyKey,
    requestDigest: message.requestDigest,
    request: JSON.parse(message.requestJson) as JsonValue,
    receipt: JSON.parse(message.receiptJson) as JsonValue,
    dependsOn: message.dependsOn,
    compensation: message.compensation === "ask" ? "ask" : "auto",
    owner: message.owner === "" ? null : message.owner,
    undoUntilMs: message.undoUntilMs === 0n ? null : Number(message.undoUntilMs),
    undoAttempts: message.undoAttempts,
    forwardRecovery: message.forwardRecovery === "" ? null : message.forwardRecovery,
    outcomeKnown: message.outcomeKnown,
    undone: message.undone,
    waitsFor: waitsForFromWire(message.waitsFor),
    secretPaths: message.secretPaths,
    // A caller sees its own tenant only, so the wire does not name it.
    namespace: "",
    problem: message.problem === "" ? null : message.problem,
    resolution: message.resolution === undefined ? null : resolutionFromWire(message.resolution),
    createdAtMs: Number(message.createdAtMs),
    updatedAtMs: Number(message.updatedAtMs),
  };
}

function resolutionToWire(resolution: Resolution): WireResolution {
  return { ...resolution, atMs: BigInt(resolution.atMs) };
}

function resolutionFromWire(message: WireResolution): Resolution {
  const { kind, actor, note, atMs } = message;
  return { kind: kind as ResolutionKind, actor, note, atMs: Number(atMs) };
}

function waitsForFromWire(word: string): EffectRecord["waitsFor"] {
  return word === "retry" || word === "person" || word === "tool" ? word : null;
}
