// Owns checkpoints (C4, C7): space `meta`, name `flow-checkpoint/{workflow}/{revision}/{step}`.
//
//   K1 A checkpoint is validated when every invariant held when it was taken.
//   K2 It names the last audit entry before it: a rewind after that entry which took back its step
//      has taken back the checkpoint, whatever was run again under the same number.

import type { RevisionName, StateView } from "@agenttx/engine";
import { decodeRecord, encodeRecord } from "@agenttx/ledger";
import type { Checkpoint, InvariantResult, RecordWrite } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { checkInvariants } from "./invariant.js";
import { ledgerOf, ledgersOnce, lineageOf } from "./lineage.js";
import { auditEntries, workflowAudit } from "./workflow-audit.js";
import { currentRevision, type WorkflowRecord } from "./workflow-record.js";
import { metaAfter, nameOf } from "./workflow-store.js";

export type { Checkpoint } from "@agenttx/model";

const PREFIX = "flow-checkpoint/";
/** What one read takes at once: those of other workflows follow. */
const PAGE = 16;
const DIGITS = 10;

export function checkpointWrite(workflow: string, checkpoint: Checkpoint): RecordWrite {
  const { revision, step } = checkpoint;
  const name = `${prefixOf(workflow)}${padded(revision)}/${padded(step)}`;
  return { space: "meta", name, value: encodeRecord(checkpoint) };
}

function prefixOf(workflow: string): string {
  return `${PREFIX}${workflow}/`;
}

function padded(value: number): string {
  return `${value}`.padStart(DIGITS, "0");
}

/** Every checkpoint of the workflow, by revision and step. */
export async function readCheckpoints(
  core: RecoveryCore,
  record: Pick<WorkflowRecord, "workflow" | "namespace">,
): Promise<readonly Checkpoint[]> {
  const { workflow, namespace } = record;
  const found: Checkpoint[] = [];
  for await (const { value } of metaAfter(core, prefixOf(workflow), {
    namespace,
    pageSize: PAGE,
  })) {
    // Written by checkpointWrite alone; the envelope's version is checked.
    found.push(decodeRecord(value, "checkpoint") as unknown as Checkpoint);
  }
  return found;
}

/** The checkpoint that a revision is when it begins. */
export function firstCheckpoint(
  core: RecoveryCore,
  revision: number,
  invariants: readonly InvariantResult[],
): Checkpoint {
  return {
    revision,
    step: 0,
    name: "start",
    schemaVersion: core.schemaVersion,
    eventPosition: 0,
    invariants,
    validated: invariants.every(({ holds }) => holds),
    atMs: core.clock.now(),
  };
}

/** Takes one after the last step of the running revision. Throws STALE_OWNER, STEP_IN_PROGRESS. */
export async function takeCheckpoint(
  core: RecoveryCore,
  record: WorkflowRecord,
  name: string,
): Promise<Checkpoint> {
  const { revision, transaction } = currentRevision(record);
  const revisionName = nameOf(record, { transaction });
  const make = async (view: StateView, step: number) => {
    const ledger = await ledgerOf(ledgersOnce(core), lineageOf(record));
    const invariants = await checkInvariants(core.invariants, view, ledger);
    const validated = invariants.every(({ holds }) => holds);
    const eventPosition = await lastEvent(core, revisionName, await knownPosition(core, record));
    const { schemaVersion, clock } = core;
    const facts = { revision, step, name, schemaVersion, eventPosition, invariants, validated };
    const checkpoint: Checkpoint = { ...facts, atMs: clock.now() };
    const why = validated ? `Checkpoint "${name}"` : `Checkpoint "${name}", not validated`;
    const failed = invariants.filter(({ holds }) => !holds).map((one) => one.name);
    const { audit } = workflowAudit(checkpoint.atMs, record, revisionName, {
      event: "checkpoint",
      actor: record.recovery.owner,
      why,
      data: { name, step, eventPosition, validated, failed },
    });
    const batch = { records: [checkpointWrite(record.workflow, checkpoint)], audit: [audit] };
    return { batch, checkpoint };
  };
  const made = await core.revisions.note(revisionName, record.recovery.fencingToken, make);
  return made.checkpoint;
}

/** Where the newest checkpoint of the current revision left off: the chain is read from there. */
async function knownPosition(core: RecoveryCore, record: WorkflowRecord): Promise<number> {
  const { revision } = currentRevision(record);
  const own = (await readCheckpoints(core, record)).filter((one) => one.revision === revision);
  return Math.max(0, ...own.map(({ eventPosition }) => eventPosition));
}

async function lastEvent(core: RecoveryCore, name: RevisionName, known: number): Promise<number> {
  let last = known;
  for (let next = known + 1; ; ) {
    const { namespace } = name;
    const page = await core.store.readAudit(name.transaction, { fromSeq: next, namespace });
    const newest = page.at(-1);
    if (newest === undefined) return last;
    last = newest.seq;
    next = last + 1;
  }
}

/** True when a later rewind took back the checkpoint's step (K2). */
export async function wasRewound(
  core: RecoveryCore,
  name: RevisionName,
  { step, eventPosition }: Checkpoint,
): Promise<boolean> {
  if (step === 0) return false;
  for await (const { entry } of auditEntries(core.store, name, eventPosition + 1)) {
    if (entry.k === "rewound" && typeof entry.to === "number" && entry.to <= step) return true;
  }
  return false;
}
