// Owns the audit entries of workflows: every change of state, every decision, with its reason and
// what it was based on (C9). They stand in the chain of the revision they concern; a short line of
// each is in the store's own chain.

import type { RevisionName } from "@agenttx/engine";
import type { Bytes, JsonValue, Store } from "@agenttx/model";
import type { WorkflowRecord } from "./workflow-record.js";

export type WorkflowEventName =
  | "started"
  | "checkpoint"
  | "owner"
  | "frozen"
  | "classified"
  | "compensated"
  | "reconciled"
  | "waiting"
  | "resumed"
  | "finished";

export interface WorkflowEvent {
  readonly event: WorkflowEventName;
  readonly actor: string;
  /** One sentence for people. */
  readonly why: string;
  readonly data?: JsonValue;
}

/** An event as the audit has it. */
export interface RecordedEvent extends WorkflowEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly transaction: string;
  readonly revision: number;
  /** State after it. */
  readonly state: string;
}

/** Who acts when nobody asked: late successes, continued recoveries (C2). */
export const SYSTEM = "system";

export function workflowAudit(
  at: number,
  record: WorkflowRecord,
  { transaction }: RevisionName,
  { event, actor, why, data }: WorkflowEvent,
): { readonly audit: Bytes; readonly storeAudit: Bytes } {
  const { workflow, recovery } = record;
  const { state, revision } = recovery;
  const entry = { k: "workflow", at, w: workflow, ev: event, revision, state, actor, why };
  return {
    audit: bytesOf(data === undefined ? entry : { ...entry, data }),
    storeAudit: bytesOf({ ...entry, tx: transaction }),
  };
}

function bytesOf(entry: object): Bytes {
  return Buffer.from(JSON.stringify(entry));
}

const PAGE = 500;

/** Entries of a transaction's chain from `fromSeq` on, decoded; what is no JSON is left out. */
export async function* auditEntries(
  store: Store,
  { transaction, namespace }: RevisionName,
  fromSeq = 1,
): AsyncGenerator<{ readonly seq: number; readonly entry: Readonly<Record<string, unknown>> }> {
  for (let next = fromSeq; ; ) {
    const page = await store.readAudit(transaction, { fromSeq: next, limit: PAGE, namespace });
    for (const { seq, payload } of page) {
      const entry = readEntry(payload);
      if (entry !== null) yield { seq, entry };
    }
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.seq + 1;
  }
}

function readEntry(payload: Bytes): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
    if (typeof parsed !== "object" || parsed === null || !("k" in parsed)) return null;
    // An object with any members; each is checked where it is used.
    return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // An erased or foreign payload: the chain's hash still covers it, there is nothing to tell.
    return null;
  }
}

/** Null for an entry of another kind. */
export function readWorkflowEvent(
  seq: number,
  transaction: string,
  entry: Readonly<Record<string, unknown>>,
): RecordedEvent | null {
  if (entry.k !== "workflow") return null;
  // Written by workflowAudit alone, and the chain's hash covers it.
  const { at, ev, actor, why, data, revision, state } = entry as unknown as {
    at: number;
    ev: WorkflowEventName;
    actor: string;
    why: string;
    data?: JsonValue;
    revision: number;
    state: string;
  };
  const base = { seq, atMs: at, transaction, revision, state, event: ev, actor, why };
  return data === undefined ? base : { ...base, data };
}
