// Owns the durable account of a workflow and its bytes (C1, C2): space `meta`, name `flow/{id}`.
//
//   J1 Versioned; a newer version is refused with FORMAT_TOO_NEW and left as it is.
//   J2 A workflow that needs attention at the next start is also listed under `flow-work/{id}`,
//      in the same batch: a start reads that list and not every workflow.
//   J3 The names sort before those of the engine's lists (`namespace/`, `unresolved/`), so that the
//      end of such a list is the end of the space and not a page of workflows.

import type { BeginRevision } from "@agenttx/engine";
import { decodeRecord, encodeRecord, type WorkflowRecovery } from "@agenttx/ledger";
import {
  AgentTxError,
  type CheckpointRef,
  type RecordWrite,
  type RevisionEntry,
} from "@agenttx/model";

export type { CheckpointRef, RevisionEntry } from "@agenttx/model";

/** The recovery that is under way; null while Running. */
export interface RecoveryRun {
  readonly requestedAtMs: number;
  /** Set when a plan is applied. */
  readonly checkpoint: CheckpointRef | null;
  readonly digest: string | null;
  /** The transaction that will be the next revision: fixed before it exists. */
  readonly nextTransaction: string | null;
  /** Goes on with the new revision by itself once it has recovered. */
  readonly resume: boolean;
  /** Every undo of the plan was tried at least once. */
  readonly tried: boolean;
  /** Why it does not go on although nothing is open; for people. */
  readonly problem: string | null;
}

export interface WorkflowRecord {
  readonly workflow: string;
  readonly namespace: string;
  readonly name: string;
  readonly begin: BeginRevision;
  readonly recovery: WorkflowRecovery;
  readonly revisions: readonly RevisionEntry[];
  readonly run: RecoveryRun | null;
  readonly createdAtMs: number;
  /** How the last revision ended, once its predecessors are put away; null before. */
  readonly finished: { readonly status: string; readonly atMs: number } | null;
}

export const WORKFLOW_PREFIX = "flow/";
export const WORK_PREFIX = "flow-work/";
const WHAT = "workflow record";

export function encodeWorkflow(record: WorkflowRecord): Uint8Array {
  const { recovery } = record;
  return encodeRecord({
    ...record,
    recovery: { ...recovery, fencingToken: `${recovery.fencingToken}` },
  });
}

/** Throws STORE_CORRUPT and FORMAT_TOO_NEW. */
export function decodeWorkflow(bytes: Uint8Array): WorkflowRecord {
  const members = decodeRecord(bytes, WHAT);
  const { recovery, revisions, workflow } = members;
  const token = typeof recovery === "object" && recovery !== null && "fencingToken" in recovery;
  if (!token || !Array.isArray(revisions) || revisions.length === 0 || typeof workflow !== "string")
    throw new AgentTxError(
      "STORE_CORRUPT",
      `A stored ${WHAT} cannot be read; it is left as it is. Other workflows are not affected.`,
      { details: { record: WHAT } },
    );
  const fencingToken = BigInt(`${recovery.fencingToken}`);
  // Written by encodeWorkflow alone, which takes a whole record.
  const record = members as unknown as WorkflowRecord;
  return {
    ...record,
    recovery: { ...record.recovery, fencingToken },
    // Records from before it was kept have none.
    revisions: record.revisions.map((entry) => ({
      ...entry,
      planDigest: entry.planDigest ?? null,
    })),
  };
}

/** The writes that make this record the durable one (J2). */
export function workflowWrites(record: WorkflowRecord): RecordWrite[] {
  const { workflow, recovery, revisions, finished } = record;
  const needsWork = recovery.state !== "Running" || (revisions.length > 1 && finished === null);
  return [
    { space: "meta", name: `${WORKFLOW_PREFIX}${workflow}`, value: encodeWorkflow(record) },
    {
      space: "meta",
      name: `${WORK_PREFIX}${workflow}`,
      value: needsWork ? new Uint8Array([1]) : null,
    },
  ];
}

/** The revision that runs, or that the recovery takes back. */
export function currentRevision(record: WorkflowRecord): RevisionEntry {
  const last = record.revisions.at(-1);
  if (last === undefined) throw new AgentTxError("INTERNAL", "A workflow has no revision.");
  return last;
}

/** The revision of this number. Throws NOT_FOUND. */
export function revisionOf(record: WorkflowRecord, revision: number): RevisionEntry {
  const entry = record.revisions[revision - 1];
  if (entry !== undefined) return entry;
  throw new AgentTxError(
    "NOT_FOUND",
    `Workflow ${record.workflow} has no revision ${revision}; nothing was changed.`,
    { details: { workflow: record.workflow, revision } },
  );
}
