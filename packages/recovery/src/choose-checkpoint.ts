// Owns which checkpoint a recovery goes back to (C4): a validated one that can still be restored.

import { AgentTxError } from "@agenttx/model";
import { type Checkpoint, readCheckpoints, wasRewound } from "./checkpoint.js";
import type { RecoveryCore } from "./core.js";
import type { Segment } from "./lineage.js";
import { type CheckpointRef, revisionOf, type WorkflowRecord } from "./workflow-record.js";
import { nameOf } from "./workflow-store.js";

/** A name, a place, or the newest one that will do. */
export type CheckpointChoice = string | CheckpointRef | "latest";

export interface ChosenCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Where its state is: the checkpoint itself, or the one that its revision began from. */
  readonly source: CheckpointRef;
  /** What the new revision is forked from; null: from nothing. */
  readonly from: { readonly transaction: string; readonly snapshot: number } | null;
}

/** Throws NOT_FOUND, or INVALID_ARGUMENT with the reason; nothing was changed. */
export async function chooseCheckpoint(
  core: RecoveryCore,
  record: WorkflowRecord,
  lineage: readonly Segment[],
  choice: CheckpointChoice,
): Promise<ChosenCheckpoint> {
  const all = await readCheckpoints(core, record);
  const asked = [...all].reverse().filter((one) => isAsked(one, choice));
  let why = "there is none of that name or place";
  for (const checkpoint of asked) {
    const refusal = await refusalOf(core, record, lineage, checkpoint);
    if (refusal === null) {
      const { revision, step } = checkpoint;
      const found = await sourceOf(core, record, { revision, step });
      if (found !== null) return { checkpoint, ...found };
      why = "the revision that holds its state has ended";
    } else why = refusal;
  }
  throw new AgentTxError(
    asked.length === 0 ? "NOT_FOUND" : "INVALID_ARGUMENT",
    `Workflow ${record.workflow} cannot go back to checkpoint ${textOf(choice)}: ${why}. Nothing was changed. Choose another one, or "start".`,
    { details: { workflow: record.workflow, field: "checkpoint" } },
  );
}

function isAsked(checkpoint: Checkpoint, choice: CheckpointChoice): boolean {
  if (choice === "latest") return true;
  if (typeof choice === "string") return checkpoint.name === choice;
  return checkpoint.revision === choice.revision && checkpoint.step === choice.step;
}

function textOf(choice: CheckpointChoice): string {
  return typeof choice === "string" ? `"${choice}"` : `${choice.revision}:${choice.step}`;
}

async function refusalOf(
  core: RecoveryCore,
  record: WorkflowRecord,
  lineage: readonly Segment[],
  checkpoint: Checkpoint,
): Promise<string | null> {
  const segment = lineage.find(({ revision }) => revision === checkpoint.revision);
  if (segment === undefined || checkpoint.step > segment.upTo) {
    return "an earlier recovery went back to before it";
  }
  if (!checkpoint.validated) return "an invariant did not hold when it was taken";
  if (await wasRewound(core, nameOf(record, segment), checkpoint)) {
    return "its step was rewound after it was taken";
  }
  return null;
}

/** Null when no transaction has its state any more. */
async function sourceOf(
  core: RecoveryCore,
  record: WorkflowRecord,
  ref: CheckpointRef,
): Promise<Pick<ChosenCheckpoint, "source" | "from"> | null> {
  const entry = revisionOf(record, ref.revision);
  const facts = await core.revisions.facts(nameOf(record, entry));
  if (facts !== null) {
    // The snapshot before step n + 1 is the state after step n.
    const from = { transaction: entry.transaction, snapshot: ref.step + 1 };
    return { source: ref, from };
  }
  if (ref.step > 0) return null;
  return entry.base === null ? { source: ref, from: null } : sourceOf(core, record, entry.base);
}
