// Owns the packed record of a successful step, in space `output`, and its twin in the audit chain.
//
//   I1 One text serves both, encoded once, as long as it is within the chain's cap.
//   I2 Arguments are stored as they were sent, so that references, and with them the graph, can be
//      rebuilt (G5); secrets only as references.
import { createHash } from "node:crypto";
import { AgentTxError, type JsonValue } from "@agenttx/model";
import type { StepAudit } from "../audit.js";

/** Over this many characters the audit chain keeps a digest instead of arguments and output. */
export const AUDIT_TEXT_MAX = 64 * 1024;

export interface StepFacts {
  readonly step: number;
  readonly attempt: number;
  readonly atMs: number;
  readonly tool: string;
  readonly argsText: string;
  readonly outputText: string;
  readonly rawContext: string | null;
  readonly effectId: string | null;
  readonly requestId: string | null;
  /** Writes of this step and all before it: what a rollback reverts is a difference of two. */
  readonly writesSoFar: number;
}

/** A step record as it is read back. */
export type StepRecord = StepAudit & { readonly a: JsonValue; readonly o: JsonValue };

export function encodeStep(facts: StepFacts): {
  readonly record: Uint8Array;
  readonly audit: Uint8Array;
} {
  const head = headText(facts);
  let text = `${head},"a":${facts.argsText},"o":${facts.outputText}`;
  if (facts.rawContext !== null) text += `,"c":${JSON.stringify(facts.rawContext)}`;
  const record = Buffer.from(`${text}}`);
  if (text.length <= AUDIT_TEXT_MAX) return { record, audit: record };
  const sha256 = createHash("sha256").update(record).digest("hex");
  const big = `"big":{"bytes":${record.byteLength},"sha256":"${sha256}"}`;
  return { record, audit: Buffer.from(`${head},"a":null,"o":null,${big}}`) };
}

function headText(facts: StepFacts): string {
  const { step, attempt, atMs, tool, effectId, requestId, writesSoFar } = facts;
  let text = `{"k":"step","s":${step},"n":${attempt},"at":${atMs},"w":${writesSoFar}`;
  text += `,"t":${JSON.stringify(tool)}`;
  if (effectId !== null) text += `,"e":${JSON.stringify(effectId)}`;
  if (requestId !== null) text += `,"r":${JSON.stringify(requestId)}`;
  return text;
}

const DECODER = new TextDecoder();

/** Throws STORE_CORRUPT for bytes that are no step record. */
export function decodeStep(transaction: string, step: number, bytes: Uint8Array): StepRecord {
  try {
    const parsed: unknown = JSON.parse(DECODER.decode(bytes));
    if (typeof parsed === "object" && parsed !== null && "k" in parsed && parsed.k === "step") {
      // Written by encodeStep alone.
      return parsed as StepRecord;
    }
  } catch {
    // Reported below.
  }
  throw new AgentTxError(
    "STORE_CORRUPT",
    `The record of step ${step} of transaction ${transaction} cannot be read; nothing was changed.`,
    { details: { transaction, step } },
  );
}
