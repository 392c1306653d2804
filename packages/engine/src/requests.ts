// Owns repeated requests (P1): what was answered under a request id, and the last failure.
//
//   Q1 The answer is in the batch of what it answers: there is no moment between the two.
//   Q2 It outlives rewinds, restarts and the transaction; a repeat runs nothing, ever.
//   Q3 A success is stored by reference: its output is in the step's record while the step stands
//      and in the audit chain after the commit. Undone, it is answered REQUEST_UNDONE.
import { hash } from "node:crypto";
import {
  AgentTxError,
  limits,
  type RecordWrite,
  type RollbackOutcome,
  type StepOutcome,
} from "@agenttx/model";
import { canonicalize } from "json-canonicalize";
import { decodeAudit } from "./audit.js";
import { pageAudit } from "./record-pages.js";
import type { OpenTransaction } from "./state.js";

export type StoredAnswer =
  | { readonly kind: "success"; readonly step: number; readonly attempt: number }
  | {
      readonly kind: "outcome";
      readonly step: number;
      readonly attempt: number;
      readonly outcome: StepOutcome;
    }
  | { readonly kind: "rollback"; readonly step: number; readonly outcome: RollbackOutcome };

interface StoredRequest {
  readonly digest: string;
  readonly answer: StoredAnswer;
}

/** Name of the record of the last failed step; no request id starts with NUL. */
export const LAST_FAILURE = "\u0000last-failure";

const DECODER = new TextDecoder();

/** Throws INVALID_ARGUMENT for an id that is empty, too long or not printable. */
export function requireRequestId(id: string): void {
  const bytes = typeof id === "string" ? Buffer.byteLength(id) : 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  if (bytes >= 1 && bytes <= limits.REQUEST_ID_BYTES_MAX && !/[\u0000-\u001f]/.test(id)) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `A request id has 1..${limits.REQUEST_ID_BYTES_MAX} bytes and no control characters; nothing was run. Leave it out for a call that is not to be recognised.`,
    { details: { field: "requestId", bytes } },
  );
}

/** SHA-256, hex, of what was asked: equal for equal content, whatever the order of keys. */
export function requestDigest(kind: string, name: string, content: unknown): string {
  return textDigest(kind, name, canonicalize(content));
}

/** As requestDigest, of content whose canonical text is at hand. */
export function textDigest(kind: string, name: string, canonical: string): string {
  return hash("sha256", `${kind}\0${name}\0${canonical}`, "hex");
}

/** The answer of a step that worked, by reference (Q3). */
export function successRecord(
  id: string,
  digest: string,
  { step, attempt }: { readonly step: number; readonly attempt: number },
): RecordWrite {
  // As JSON.stringify writes it in answerRecord; all of it is ASCII.
  const text = `{"digest":"${digest}","answer":{"kind":"success","step":${step},"attempt":${attempt}}}`;
  return { space: "request", name: id, value: Buffer.from(text, "latin1") };
}

export function answerRecord(id: string, digest: string, answer: StoredAnswer): RecordWrite {
  const stored: StoredRequest = { digest, answer };
  return { space: "request", name: id, value: Buffer.from(JSON.stringify(stored)) };
}

/** The answer stored under a request id of the caller's; null when the id is new. */
export async function answerTo(open: OpenTransaction, id: string): Promise<StoredRequest | null> {
  return open.asked === null || open.asked.note(id) ? readAnswer(open, id) : null;
}

/** Reads the store. For ids of callers see `answerTo`. */
export async function readAnswer(
  open: Pick<OpenTransaction, "engine" | "id" | "namespace">,
  id: string,
): Promise<StoredRequest | null> {
  const { engine, namespace } = open;
  const bytes = await engine.store.readRecord(open.id, { space: "request", name: id, namespace });
  // Written by answerRecord alone.
  return bytes === null ? null : (JSON.parse(DECODER.decode(bytes)) as StoredRequest);
}

/**
 * The stored answer of a step request, or null when the id is new.
 * Throws REQUEST_ID_REUSED for other content, REQUEST_UNDONE when the step was taken back.
 */
export async function repeatedStep(
  open: OpenTransaction,
  id: string,
  digest: string,
  stepId: number | null,
): Promise<StepOutcome | null> {
  const stored = await answerTo(open, id);
  if (stored === null) return null;
  const sameStep = stepId === null || stepId === stored.answer.step;
  if (stored.digest !== digest || !sameStep) throw requestReused(id);
  const { answer } = stored;
  if (answer.kind === "rollback") throw requestReused(id);
  if (answer.kind === "outcome") return { ...answer.outcome, repeated: true };
  const output = await outputOf(open, answer.step, answer.attempt);
  if (output === undefined) throw requestUndone(id, answer.step);
  return {
    status: "SUCCESS",
    step: answer.step,
    output,
    nextStep: answer.step + 1,
    constraints: open.header.constraints,
    repeated: true,
  };
}

/** Output of one execution: from its record while open, from the audit once committed. */
async function outputOf(open: OpenTransaction, step: number, attempt: number) {
  if (open.ended === null) {
    const record = await open.graph.record(step);
    return record?.n === attempt ? record.o : undefined;
  }
  if (open.ended.status !== "COMMITTED") return undefined;
  return committedOutput(open, step, attempt);
}

async function committedOutput(open: OpenTransaction, step: number, attempt: number) {
  const { store } = open.engine;
  let undone = false;
  let output: Extract<StepOutcome, { status: "SUCCESS" }>["output"] | undefined;
  for await (const { payload } of pageAudit(store, open.id, { namespace: open.namespace })) {
    const entry = decodeAudit(payload);
    if (entry?.k === "step" && entry.s === step && entry.n === attempt) {
      if (entry.big !== undefined) throw outputTooLarge(step);
      // Made of JSON by encodeStep.
      output = entry.o as typeof output;
    } else if (entry?.k === "rewound" && output !== undefined && entry.to <= step) {
      undone = true;
    }
  }
  return undone ? undefined : output;
}

export function requestReused(id: string): AgentTxError {
  return new AgentTxError(
    "REQUEST_ID_REUSED",
    "This request id was used for another request; nothing was run. Use a new request id.",
    { details: { field: "requestId", requestId: id } },
  );
}

function requestUndone(id: string, step: number): AgentTxError {
  return new AgentTxError(
    "REQUEST_UNDONE",
    `This request ran as step ${step} and was undone by a rollback; it was not run again. Send it under a new request id to run it anew.`,
    { details: { requestId: id, step } },
  );
}

function outputTooLarge(step: number): AgentTxError {
  return new AgentTxError(
    "TRANSACTION_ENDED",
    `This request ran as step ${step} and was committed; its output was too large for the audit chain and went with the transaction.`,
    { details: { step, status: "COMMITTED" } },
  );
}
