// Owns workflows, checkpoints and reconciliation items between model and messages. A caller sees its
// own tenant only, so the wire does not name namespaces.

import type {
  Checkpoint,
  CheckpointRef,
  Evidence,
  JsonValue,
  ReconciliationItem,
  RevisionEntry,
  WorkflowState,
  WorkflowView,
} from "@agenttx/model";
import { effectFromWire, effectToWire } from "./effect-codec.js";
import type {
  Evidence as WireEvidence,
  ReconciliationItem as WireItem,
} from "./gen/agenttx/v1/effects.js";
import type {
  Checkpoint as WireCheckpoint,
  CheckpointRef as WireRef,
  WorkflowRevision as WireRevision,
  Workflow as WireWorkflow,
} from "./gen/agenttx/v1/workflows.js";

export function workflowToWire(view: WorkflowView): WireWorkflow {
  const { recovery } = view;
  return {
    workflowId: view.id,
    name: view.name,
    metadata: { ...view.metadata },
    state: view.state,
    revision: view.revision,
    transactionId: view.transaction,
    transactionStatus: view.transactionStatus,
    owner: view.owner,
    fencingToken: BigInt(view.fencingToken),
    revisions: view.revisions.map(revisionToWire),
    recovery:
      recovery === null
        ? undefined
        : {
            actor: recovery.actor,
            reason: recovery.reason,
            requestedAtMs: BigInt(recovery.requestedAtMs),
            checkpoint: refToWire(recovery.checkpoint),
            openEffects: [...recovery.open],
            problem: recovery.problem ?? "",
            untriedEffects: [...recovery.untried],
          },
    createdAtMs: BigInt(view.createdAtMs),
    changedAtMs: BigInt(view.changedAtMs),
  };
}

export function workflowFromWire(message: WireWorkflow): WorkflowView {
  const { recovery } = message;
  return {
    id: message.workflowId,
    namespace: "",
    name: message.name,
    metadata: message.metadata,
    state: message.state as WorkflowState,
    revision: message.revision,
    transaction: message.transactionId,
    transactionStatus: message.transactionStatus,
    owner: message.owner,
    fencingToken: `${message.fencingToken}`,
    revisions: message.revisions.map(revisionFromWire),
    recovery:
      recovery === undefined
        ? null
        : {
            actor: recovery.actor,
            reason: recovery.reason,
            requestedAtMs: Number(recovery.requestedAtMs),
            checkpoint: refFromWire(recovery.checkpoint),
            open: recovery.openEffects,
            untried: recovery.untriedEffects,
            problem: recovery.problem === "" ? null : recovery.problem,
          },
    createdAtMs: Number(message.createdAtMs),
    changedAtMs: Number(message.changedAtMs),
  };
}

export function refToWire(ref: CheckpointRef | null): WireRef | undefined {
  return ref === null ? undefined : { revision: ref.revision, stepId: ref.step };
}

export function refFromWire(message: WireRef | undefined): CheckpointRef | null {
  return message === undefined ? null : { revision: message.revision, step: message.stepId };
}

function revisionToWire(entry: RevisionEntry): WireRevision {
  return {
    revision: entry.revision,
    transactionId: entry.transaction,
    base: refToWire(entry.base),
    startedAtMs: BigInt(entry.startedAtMs),
    planDigest: entry.planDigest ?? "",
  };
}

function revisionFromWire(message: WireRevision): RevisionEntry {
  return {
    revision: message.revision,
    transaction: message.transactionId,
    base: refFromWire(message.base),
    startedAtMs: Number(message.startedAtMs),
    planDigest: message.planDigest === "" ? null : message.planDigest,
  };
}

export function checkpointToWire(checkpoint: Checkpoint): WireCheckpoint {
  return {
    revision: checkpoint.revision,
    stepId: checkpoint.step,
    name: checkpoint.name,
    schemaVersion: checkpoint.schemaVersion,
    eventPosition: BigInt(checkpoint.eventPosition),
    invariants: checkpoint.invariants.map((one) => ({ ...one, problem: one.problem ?? "" })),
    validated: checkpoint.validated,
    atMs: BigInt(checkpoint.atMs),
  };
}

export function checkpointFromWire(message: WireCheckpoint): Checkpoint {
  return {
    revision: message.revision,
    step: message.stepId,
    name: message.name,
    schemaVersion: message.schemaVersion,
    eventPosition: Number(message.eventPosition),
    invariants: message.invariants.map(({ name, holds, problem }) => ({
      name,
      holds,
      problem: holds ? null : problem,
    })),
    validated: message.validated,
    atMs: Number(message.atMs),
  };
}

export function itemToWire(item: ReconciliationItem): WireItem {
  return {
    workflowId: item.workflow,
    revision: item.revision,
    effect: effectToWire(item.effect),
    ageMs: BigInt(item.ageMs),
    evidence: item.evidence.map(evidenceToWire),
    dependants: item.dependants.map((one) => ({ ...one })),
  };
}

/** Throws a TypeError for an item without its effect, which no server sends. */
export function itemFromWire(message: WireItem): ReconciliationItem {
  if (message.effect === undefined) throw new TypeError("A reconciliation item without its effect");
  const effect = effectFromWire(message.effect);
  return {
    workflow: message.workflowId,
    revision: message.revision,
    effect,
    ageMs: Number(message.ageMs),
    evidence: message.evidence.map(evidenceFromWire),
    dependants: message.dependants,
    undoUntilMs: effect.undoUntilMs,
    forwardRecovery: effect.forwardRecovery,
  };
}

function evidenceToWire({ atMs, event, why, actor, late }: Evidence): WireEvidence {
  return {
    atMs: BigInt(atMs),
    event,
    why: why ?? "",
    actor: actor ?? "",
    lateJson: late === null ? "" : JSON.stringify(late),
  };
}

function evidenceFromWire({ atMs, event, why, actor, lateJson }: WireEvidence): Evidence {
  return {
    atMs: Number(atMs),
    event,
    why: why === "" ? null : why,
    actor: actor === "" ? null : actor,
    late: lateJson === "" ? null : (JSON.parse(lateJson) as JsonValue),
  };
}
