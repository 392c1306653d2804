// Owns the calls about workflows and their recovery: the shape of @agenttx/recovery, so that moving
// from embedded to server changes one import. They are unary: an operator makes them, and a proxy may
// stand between.

import {
  AgentTxError,
  type Checkpoint,
  type CheckpointRef,
  type EffectRecord,
  type JsonObject,
  type ReconciliationItem,
  type RecoveryPlan,
  type RevisionEntry,
  type WorkflowState,
  type WorkflowView,
} from "@agenttx/model";
import {
  agentTxService,
  checkpointFromWire,
  itemFromWire,
  refToWire,
  workflowFromWire,
  type workflows,
} from "@agenttx/wire";
import { type HistoryEntry, pages, type Resolution, resolveEffect } from "./operators.js";
import type { ReadStream } from "./read-stream.js";
import { required } from "./required.js";
import { type CallSignal, ClientTransaction, fetchView, type HandleParts } from "./transaction.js";
import type { UnaryCaller } from "./unary-transport.js";
import { ClientWorkflow } from "./workflow.js";

export interface StartClientWorkflow extends CallSignal {
  /** 1..128 characters; the same id again answers with the workflow that is there. */
  readonly id?: string;
  readonly name?: string;
  readonly agentId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Default: `agentId`. */
  readonly owner?: string;
}

/** The story of a workflow: the failed execution stands next to the new revision (C9). */
export interface ClientWorkflowStory {
  readonly workflow: string;
  readonly revisions: readonly (RevisionEntry & { readonly history: readonly HistoryEntry[] })[];
}

export class ClientRecovery {
  readonly #caller: UnaryCaller;
  readonly #read: ReadStream;
  readonly #parts: HandleParts;

  /** Internal: `client.recovery`. */
  constructor(caller: UnaryCaller, read: ReadStream, parts: HandleParts) {
    this.#caller = caller;
    this.#read = read;
    this.#parts = parts;
  }

  readonly workflows = {
    start: async (options: StartClientWorkflow = {}): Promise<ClientWorkflow> => {
      const { id = "", name = "", agentId = "", metadata = {}, owner = "", ...signal } = options;
      const request = { workflowId: id, name, agentId, metadata: { ...metadata }, owner };
      const started = await this.#caller.call(agentTxService.startWorkflow, request, signal);
      return this.#handle(started);
    },
    /** A handle on a running workflow; with the token of an owner, only for that owner. */
    open: async (
      id: string,
      options: CallSignal & { readonly fencingToken?: bigint } = {},
    ): Promise<ClientWorkflow> => {
      const { fencingToken, ...signal } = options;
      const workflow = await this.#get(id, signal);
      if (fencingToken !== undefined && fencingToken !== workflow.fencingToken) {
        throw refused("STALE_OWNER", `Workflow ${id} has another owner now`);
      }
      if (workflow.state !== "Running") {
        throw refused("WORKFLOW_STATE", `Workflow ${id} is ${workflow.state}`);
      }
      const { nextStep } = await fetchView(this.#parts.transport, workflow.transactionId, signal);
      return this.#handle({ workflow, nextStepId: nextStep });
    },
    /** Takes a running workflow from whoever has it (C3). */
    acquireOwnership: async (
      id: string,
      owner: string,
      options: CallSignal = {},
    ): Promise<ClientWorkflow> =>
      this.#handle(
        await this.#caller.call(
          agentTxService.acquireOwnership,
          { workflowId: id, owner },
          options,
        ),
      ),
    get: async (id: string, options: CallSignal = {}): Promise<WorkflowView> =>
      workflowFromWire(await this.#get(id, options)),
    /** In the order of their ids; at most `limit` (default 100), in one of `states` when given. */
    list: ({
      limit = 100,
      states = [],
      ...signal
    }: CallSignal & {
      readonly limit?: number;
      readonly states?: readonly WorkflowState[];
    } = {}): Promise<readonly WorkflowView[]> =>
      pages(limit, async (pageSize, pageToken) => {
        const request = { pageSize, pageToken, states: [...states] };
        const page = await this.#caller.call(agentTxService.listWorkflows, request, signal);
        return { found: page.workflows.map(workflowFromWire), next: page.nextPageToken };
      }),
    checkpoints: async (id: string, options: CallSignal = {}): Promise<readonly Checkpoint[]> => {
      const request = { workflowId: id };
      const answer = await this.#caller.call(agentTxService.listCheckpoints, request, options);
      return answer.checkpoints.map(checkpointFromWire);
    },
  };

  readonly reconciliation = {
    /** What is open in a workflow, with evidence; oldest first. */
    list: (id: string, options: CallSignal = {}): Promise<readonly ReconciliationItem[]> =>
      pages(Number.POSITIVE_INFINITY, async (pageSize, pageToken) => {
        const request = { workflowId: id, pageSize, pageToken };
        const page = await this.#caller.call(agentTxService.listReconciliation, request, options);
        return { found: page.items.map(itemFromWire), next: page.nextPageToken };
      }),
    /** Records what became of an effect; the workflow goes on when it was the last one. */
    resolve: (
      effectId: string,
      resolution: Resolution,
      options: CallSignal = {},
    ): Promise<EffectRecord> => resolveEffect(this.#caller, effectId, resolution, options),
  };

  /** Stops new work of a running workflow: from now on its owner is refused everywhere. */
  async freeze(
    id: string,
    { actor = "", reason }: { readonly actor?: string; readonly reason: string },
    options: CallSignal = {},
  ): Promise<WorkflowView> {
    const request = { workflowId: id, actor, reason };
    const { workflow } = await this.#caller.call(agentTxService.freeze, request, options);
    return workflowFromWire(required(workflow, "workflow"));
  }

  /** What applying would do; changes nothing. Default: the newest validated checkpoint. */
  async plan(
    id: string,
    options: CallSignal & { readonly checkpoint?: string | CheckpointRef } = {},
  ): Promise<RecoveryPlan> {
    const { checkpoint = "", ...signal } = options;
    const isName = typeof checkpoint === "string";
    const request = {
      workflowId: id,
      checkpointName: isName ? checkpoint : "",
      checkpoint: isName ? undefined : refToWire(checkpoint),
    };
    const { planJson } = await this.#caller.call(agentTxService.planRecovery, request, signal);
    // Made by the server from the same type.
    return JSON.parse(planJson) as RecoveryPlan;
  }

  /**
   * Carries the plan out, as far as it goes now; repeating it is harmless. PLAN_CHANGED: its basis is
   * another by now. Past the deadline, or after a signal, it goes on; `workflows.get` shows how far.
   */
  async apply(
    plan: Pick<RecoveryPlan, "workflow" | "checkpoint" | "digest">,
    options: CallSignal & { readonly actor?: string; readonly resume?: boolean } = {},
  ): Promise<WorkflowView> {
    const { actor = "", resume = true, ...signal } = options;
    const { workflow: workflowId, digest } = plan;
    const checkpoint = refToWire(plan.checkpoint);
    const request = { workflowId, checkpoint, digest, actor, hold: !resume };
    const { workflow } = await this.#caller.call(agentTxService.applyRecovery, request, signal);
    return workflowFromWire(required(workflow, "workflow"));
  }

  /** Goes on with a recovery that was held, or whose problem was put right. */
  async resume(
    id: string,
    { actor = "" }: { readonly actor?: string } = {},
    options: CallSignal = {},
  ): Promise<WorkflowView> {
    const request = { workflowId: id, actor };
    const { workflow } = await this.#caller.call(agentTxService.resumeRecovery, request, options);
    return workflowFromWire(required(workflow, "workflow"));
  }

  /** What happened in each revision and why, from the audit alone (C13). */
  async explain(id: string, options: CallSignal = {}): Promise<ClientWorkflowStory> {
    const { revisions } = workflowFromWire(await this.#get(id, options));
    const request = { workflowId: id, history: true };
    const entries = await this.#read(agentTxService.getWorkflowAudit, request, options);
    return {
      workflow: id,
      revisions: revisions.map((entry) => ({
        ...entry,
        history: entries
          .filter(({ revision }) => revision === entry.revision)
          .map(({ payloadJson }) => JSON.parse(payloadJson) as HistoryEntry),
      })),
    };
  }

  /** The recorded facts and decisions once more, as JSON; calls no tool and no model (C13). */
  async replay(id: string, options: CallSignal = {}): Promise<JsonObject> {
    const request = { workflowId: id };
    const { replayJson } = await this.#caller.call(agentTxService.replayWorkflow, request, options);
    return JSON.parse(replayJson) as JsonObject;
  }

  async #get(id: string, signal: CallSignal): Promise<workflows.Workflow> {
    const request = { workflowId: id };
    const { workflow } = await this.#caller.call(agentTxService.getWorkflow, request, signal);
    return required(workflow, "workflow");
  }

  #handle(answer: {
    workflow: workflows.Workflow | undefined;
    nextStepId: number;
  }): ClientWorkflow {
    const workflow = required(answer.workflow, "workflow");
    const transaction = new ClientTransaction(this.#parts, {
      id: workflow.transactionId,
      nextStep: answer.nextStepId,
      fencingToken: workflow.fencingToken,
    });
    return new ClientWorkflow(this.#caller, workflow, transaction);
  }
}

function refused(code: "STALE_OWNER" | "WORKFLOW_STATE", what: string): AgentTxError {
  return new AgentTxError(code, `${what}; nothing was changed. Acquire it, or leave it alone.`);
}
