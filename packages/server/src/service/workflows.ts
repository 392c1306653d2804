// Owns the calls about workflows and their recovery (C1-C7, C13). What runs long (apply, resume) is
// durable stage by stage: a caller that goes away, or a server that dies, changes nothing of it.

import { AgentTxError, type CheckpointRef, type WorkflowState } from "@agenttx/model";
import type { Workflow } from "@agenttx/recovery";
import {
  checkpointToWire,
  refFromWire,
  refToWire,
  type workflows,
  workflowToWire,
} from "@agenttx/wire";
import { actorOf, requireScope } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { makePageToken, pageSize, readPageToken } from "./page-token.js";
import { given } from "./transactions.js";

const ID_CHARS_MAX = 128;

export async function startWorkflow(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.StartWorkflowRequest,
): Promise<workflows.StartWorkflowResponse> {
  requireScope(context.principal, "run");
  if (deps.draining()) {
    throw new AgentTxError("UNAVAILABLE", "The server is stopping; start it on another one.");
  }
  const namespace = context.principal.tenant;
  const release = deps.tenants.reserveTransaction(namespace);
  try {
    const { agentId, metadata, name } = request;
    const workflow = await deps.recovery.workflows.start({
      namespace,
      agentId,
      metadata,
      name,
      ...given("id", request.workflowId),
      ...given("owner", request.owner),
    });
    return await withNext(deps, workflow);
  } finally {
    release();
  }
}

export async function acquireOwnership(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.AcquireOwnershipRequest,
): Promise<workflows.AcquireOwnershipResponse> {
  requireScope(context.principal, "run");
  const id = workflowId(request);
  if (request.owner === "") throw missing("owner");
  const namespace = context.principal.tenant;
  return withNext(
    deps,
    await deps.recovery.workflows.acquireOwnership(id, request.owner, { namespace }),
  );
}

async function withNext(deps: ServiceDeps, { id, namespace, transaction }: Workflow) {
  const view = await deps.recovery.workflows.get(id, { namespace });
  return { workflow: workflowToWire(view), nextStepId: transaction.nextStep };
}

export async function getWorkflow(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.GetWorkflowRequest,
): Promise<workflows.GetWorkflowResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const view = await deps.recovery.workflows.get(workflowId(request), { namespace });
  return { workflow: workflowToWire(view) };
}

export async function listWorkflows(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.ListWorkflowsRequest,
): Promise<workflows.ListWorkflowsResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const states = request.states.map(readState).sort();
  const scope = `workflows:${namespace}:${states.join(",")}`;
  const limit = pageSize(request.pageSize);
  const after = readPageToken(scope, request.pageToken);
  const page = await deps.recovery.workflows.list({
    namespace,
    limit,
    ...(states.length === 0 ? {} : { states }),
    ...(after === undefined ? {} : { after }),
  });
  const last = page.length < limit ? undefined : page.at(-1);
  return {
    workflows: page.map(workflowToWire),
    nextPageToken: last === undefined ? "" : makePageToken(scope, last.id),
  };
}

const STATES: readonly WorkflowState[] = [
  "Running",
  "Frozen",
  "Compensating",
  "Reconciliation",
  "Recovered",
];

function readState(word: string): WorkflowState {
  const state = STATES.find((known) => known === word);
  if (state !== undefined) return state;
  throw new AgentTxError("INVALID_ARGUMENT", `\`states\` holds words of ${STATES.join(", ")}.`, {
    details: { field: "states" },
  });
}

export async function takeCheckpoint(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.TakeCheckpointRequest,
): Promise<workflows.TakeCheckpointResponse> {
  requireScope(context.principal, "run");
  const { name } = request;
  if (name === "" || name.length > ID_CHARS_MAX) throw missing("name");
  const workflow = await owned(deps, context, request);
  return { checkpoint: checkpointToWire(await workflow.checkpoint(name)) };
}

export async function listCheckpoints(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.ListCheckpointsRequest,
): Promise<workflows.ListCheckpointsResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const all = await deps.recovery.workflows.checkpoints(workflowId(request), { namespace });
  return { checkpoints: all.map(checkpointToWire) };
}

export async function commitWorkflow(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.CommitWorkflowRequest,
): Promise<workflows.CommitWorkflowResponse> {
  requireScope(context.principal, "run");
  const workflow = await owned(deps, context, request);
  const outcome = await workflow.commit();
  const { id, namespace } = workflow;
  return {
    workflow: workflowToWire(await deps.recovery.workflows.get(id, { namespace })),
    stepsCommitted: outcome.stepsCommitted,
    effectsDispatched: outcome.effectsDispatched,
    effectsPending: outcome.effectsPending,
    commitVersion: outcome.commitVersion,
  };
}

/** The handle of the owner with this token. Throws STALE_OWNER. */
function owned(
  deps: ServiceDeps,
  context: CallContext,
  request: { readonly workflowId: string; readonly fencingToken: bigint },
): Promise<Workflow> {
  const { fencingToken } = request;
  if (fencingToken === 0n) throw missing("fencing_token");
  const namespace = context.principal.tenant;
  return deps.recovery.workflows.open(workflowId(request), { namespace, fencingToken });
}

export async function freeze(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.FreezeRequest,
): Promise<workflows.FreezeResponse> {
  requireScope(context.principal, "operate");
  const actor = actorOf(context, request.actor);
  const namespace = context.principal.tenant;
  const by = { actor, reason: request.reason };
  const view = await deps.recovery.freeze(workflowId(request), by, { namespace });
  return { workflow: workflowToWire(view) };
}

export async function planRecovery(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.PlanRecoveryRequest,
): Promise<workflows.PlanRecoveryResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const checkpoint = refFromWire(request.checkpoint) ?? request.checkpointName;
  const plan = await deps.recovery.plan(workflowId(request), {
    namespace,
    ...(checkpoint === "" ? {} : { checkpoint }),
  });
  // A caller's plan does not name its tenant; `applyRecovery` takes it from the token.
  const shown = { ...plan, namespace: "" };
  return {
    workflowId: plan.workflow,
    state: plan.state,
    fencingToken: BigInt(plan.fencingToken),
    checkpoint: refToWire(plan.checkpoint),
    checkpointName: plan.checkpoint.name,
    digest: plan.digest,
    undoEffects: plan.undo.map(({ effectId }) => effectId),
    lookUpEffects: plan.lookUp.map(({ effectId }) => effectId),
    dropEffects: [...plan.drop],
    cannotUndo: plan.cannot.map(({ effectId, reason, explanation }) => {
      return { effectId, reason, explanation };
    }),
    planJson: JSON.stringify(shown),
  };
}

export async function applyRecovery(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.ApplyRecoveryRequest,
): Promise<workflows.ApplyRecoveryResponse> {
  requireScope(context.principal, "operate");
  const actor = actorOf(context, request.actor);
  const workflow = workflowId(request);
  const place: CheckpointRef | null = refFromWire(request.checkpoint);
  if (place === null) throw missing("checkpoint");
  if (request.digest === "") throw missing("digest");
  const namespace = context.principal.tenant;
  // The digest covers the checkpoint's name and schema; applying looks at the place alone.
  const checkpoint = { ...place, name: "", schemaVersion: 0 };
  const view = await deps.recovery.apply(
    { workflow, namespace, checkpoint, digest: request.digest },
    { actor, resume: !request.hold },
  );
  return { workflow: workflowToWire(view) };
}

export async function resumeRecovery(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.ResumeRecoveryRequest,
): Promise<workflows.ResumeRecoveryResponse> {
  requireScope(context.principal, "operate");
  const actor = actorOf(context, request.actor);
  const namespace = context.principal.tenant;
  const view = await deps.recovery.resume(workflowId(request), { actor }, { namespace });
  return { workflow: workflowToWire(view) };
}

export async function replayWorkflow(
  deps: ServiceDeps,
  context: CallContext,
  request: workflows.ReplayWorkflowRequest,
): Promise<workflows.ReplayWorkflowResponse> {
  requireScope(context.principal, "read");
  const namespace = context.principal.tenant;
  const id = workflowId(request);
  const { events } = await deps.recovery.explain(id, { namespace });
  const replay = await deps.recovery.replay(id, { namespace });
  return { replayJson: JSON.stringify({ ...replay, events }) };
}

/** Throws INVALID_ARGUMENT. */
export function workflowId({ workflowId: id }: { readonly workflowId: string }): string {
  if (id !== "" && id.length <= ID_CHARS_MAX) return id;
  throw missing("workflow_id");
}

function missing(field: string): AgentTxError {
  return new AgentTxError(
    "INVALID_ARGUMENT",
    `\`${field}\` is missing or too long; nothing was changed.`,
    {
      details: { field },
    },
  );
}
