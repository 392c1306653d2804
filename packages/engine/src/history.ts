// Owns the history of a transaction, told from its audit chain alone (C13). Reading it calls no
// tool; what was undone stays readable until retention removes it.
import type { CleanHint, JsonValue, RollbackDecision, Store } from "@agenttx/model";
import { type AuditRecord, decodeAudit, type StepAudit } from "./audit.js";
import { pageAudit } from "./record-pages.js";

export type HistoryEntry =
  | HistoryStep
  | {
      readonly kind: "failed";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      readonly tool: string | null;
      readonly hint: CleanHint;
      /** Reported after the step had worked (R9a). */
      readonly reported: boolean;
    }
  | {
      readonly kind: "decision";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      readonly decision: RollbackDecision;
    }
  | {
      readonly kind: "rewound";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      /** Steps from here on were undone; 0 = all. */
      readonly toStep: number;
      readonly why: string;
    }
  | {
      /** A change of an effect's state (E2); `event` is the ledger's word for it. */
      readonly kind: "effect";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      readonly tool: string;
      readonly effectId: string;
      readonly event: string;
      readonly state: string;
      readonly why: string | null;
      readonly actor: string | null;
    }
  | {
      /** A step of the recovery of the workflow that this transaction is a revision of. */
      readonly kind: "workflow";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      readonly workflow: string;
      readonly event: string;
      readonly state: string;
      readonly actor: string;
      readonly note: string;
    }
  | {
      readonly kind: "began" | "frozen" | "stopped" | "resumed" | "committed" | "aborted";
      readonly seq: number;
      readonly atMs: number;
      readonly step: number;
      readonly note: string;
    };

/** One execution that worked. */
export interface HistoryStep {
  readonly kind: "step";
  readonly seq: number;
  readonly atMs: number;
  readonly step: number;
  readonly attempt: number;
  readonly tool: string;
  /** As they were sent; null when over the audit's cap. */
  readonly arguments: JsonValue;
  readonly output: JsonValue;
  readonly effectId: string | null;
  /** Sequence number of the entry that undid it, or null while it stands. */
  readonly undoneBy: number | null;
}

/** Every entry in order; steps say whether they stand. */
export async function readHistory(
  store: Store,
  id: string,
  namespace: string,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const { seq, payload } of pageAudit(store, id, { namespace })) {
    const record = decodeAudit(payload);
    if (record === null) continue;
    const undoneFrom = undoes(record);
    if (undoneFrom !== null) markUndone(entries, undoneFrom, seq);
    entries.push(toEntry(record, seq));
  }
  return entries;
}

function undoes(record: AuditRecord): number | null {
  if (record.k === "rewound") return record.to;
  return record.k === "abort" ? 0 : null;
}

function markUndone(entries: HistoryEntry[], fromStep: number, seq: number): void {
  // Backwards: everything before the first step under the target that still stands is older.
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.kind !== "step" || entry.undoneBy !== null) continue;
    if (entry.step < fromStep) return;
    entries[index] = { ...entry, undoneBy: seq };
  }
}

function toEntry(record: AuditRecord, seq: number): HistoryEntry {
  const base = { seq, atMs: record.at };
  switch (record.k) {
    case "step":
      return stepEntry(record, seq);
    case "failed":
      return {
        ...base,
        kind: "failed",
        step: record.s,
        tool: record.t,
        hint: record.hint,
        reported: record.reported ?? false,
      };
    case "decision":
      return { ...base, kind: "decision", step: record.s, decision: record.decision };
    case "rewound":
      return { ...base, kind: "rewound", step: record.s, toStep: record.to, why: record.why };
    case "begin":
      return { ...base, kind: "began", step: 0, note: record.agentId };
    case "frozen":
      return { ...base, kind: "frozen", step: record.s, note: record.unresolved.join(", ") };
    case "stopped":
      return { ...base, kind: "stopped", step: record.s, note: record.why };
    case "resumed":
      return { ...base, kind: "resumed", step: record.s, note: "" };
    case "effect":
      return {
        ...base,
        kind: "effect",
        step: record.s,
        tool: record.t,
        effectId: record.e,
        event: record.ev,
        state: record.state,
        why: record.why ?? null,
        actor: record.actor ?? null,
      };
    case "workflow":
      return {
        ...base,
        kind: "workflow",
        step: 0,
        workflow: record.w,
        event: record.ev,
        state: record.state,
        actor: record.actor,
        note: record.why,
      };
    case "commit":
      return { ...base, kind: "committed", step: 0, note: `${record.steps} steps` };
    case "abort":
      return { ...base, kind: "aborted", step: 0, note: `${record.status}: ${record.reason}` };
  }
}

function stepEntry(record: StepAudit, seq: number): HistoryStep {
  return {
    kind: "step",
    seq,
    atMs: record.at,
    step: record.s,
    attempt: record.n,
    tool: record.t,
    // JSON by construction: encodeStep wrote it.
    arguments: record.a as JsonValue,
    output: record.o as JsonValue,
    effectId: record.e ?? null,
    undoneBy: null,
  };
}
