// Owns where the commands about workflows work: on a data directory (this process opens it), or on a
// running server (`--server`), with the same questions and answers.

import type { AgentTxClient } from "@agenttx/client";
import type {
  EffectRecord,
  ReconciliationItem,
  RecoveryPlan,
  ResolutionKind,
  WorkflowState,
  WorkflowView,
} from "@agenttx/model";
import { AgentTxError, isAgentTxError } from "@agenttx/model";
import type { RecordedEvent, Recovery, ResumeReport, WorkflowReplay } from "@agenttx/recovery";

/** A replay with the events that led to it. */
export type Retold = WorkflowReplay & { readonly events: readonly RecordedEvent[] };

export interface RecoveryCalls {
  freeze(id: string, by: { actor: string; reason: string }): Promise<WorkflowView>;
  plan(id: string, checkpoint: string): Promise<RecoveryPlan>;
  apply(plan: RecoveryPlan, options: { actor: string; resume: boolean }): Promise<WorkflowView>;
  resume(id: string, by: { actor: string }): Promise<WorkflowView>;
  resumeAll(): Promise<ResumeReport>;
  /** In the order of their ids; in one of `states` when given. */
  workflows(limit: number, states?: readonly WorkflowState[]): Promise<readonly WorkflowView[]>;
  items(workflow: string): Promise<readonly ReconciliationItem[]>;
  resolve(
    effectId: string,
    said: { readonly kind: ResolutionKind; readonly actor: string; readonly note: string },
  ): Promise<EffectRecord>;
  retell(id: string): Promise<Retold>;
}

export function embeddedCalls(recovery: Recovery): RecoveryCalls {
  return {
    freeze: (id, by) => recovery.freeze(id, by),
    plan: (id, checkpoint) => recovery.plan(id, { checkpoint }),
    apply: (plan, options) => recovery.apply(plan, options),
    resume: (id, by) => recovery.resume(id, by),
    resumeAll: () => recovery.resumeAll(),
    workflows: (limit, states) => listAll(recovery, limit, states),
    items: (workflow) => recovery.reconciliation.list(workflow),
    resolve: async (effectId, said) => {
      await recovery.start();
      return recovery.reconciliation.resolve(effectId, said);
    },
    retell: async (id) => {
      const { events } = await recovery.explain(id);
      return { ...(await recovery.replay(id)), events };
    },
  };
}

async function listAll(
  recovery: Recovery,
  limit: number,
  states?: readonly WorkflowState[],
): Promise<readonly WorkflowView[]> {
  const all: WorkflowView[] = [];
  for (let after: string | undefined; all.length < limit; ) {
    const page = await recovery.workflows.list({
      limit: Math.min(limit - all.length, PAGE),
      ...(states === undefined ? {} : { states }),
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page);
    after = page.at(-1)?.id;
    if (after === undefined) break;
  }
  return all;
}

const PAGE = 1_000;

/** `note` is told how far a call is that takes long. */
export function serverCalls(
  { recovery }: AgentTxClient,
  note: (text: string) => void,
): RecoveryCalls {
  /** The server goes on past the deadline of a call; the same call again gets its answer. */
  const patiently = async (
    id: string,
    call: () => Promise<WorkflowView>,
  ): Promise<WorkflowView> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isAgentTxError(error) || error.code !== "UNAVAILABLE") throw error;
        // Throws when the server is away.
        const { state, recovery: run } = await recovery.workflows.get(id);
        const left = (run?.untried.length ?? 0) + (run?.open.length ?? 0);
        note(`${id} is ${state}, ${left} effects to settle; waiting`);
      }
    }
  };
  return {
    freeze: (id, by) => recovery.freeze(id, by),
    plan: (id, checkpoint) => recovery.plan(id, { checkpoint }),
    apply: (plan, options) => patiently(plan.workflow, () => recovery.apply(plan, options)),
    resume: (id, by) => patiently(id, () => recovery.resume(id, by)),
    resumeAll: () => {
      throw new AgentTxError(
        "INVALID_ARGUMENT",
        "A server goes on with interrupted recoveries at its own start; nothing was changed. Name the workflow to go on with one.",
      );
    },
    workflows: (limit, states = []) => recovery.workflows.list({ limit, states }),
    items: (workflow) => recovery.reconciliation.list(workflow),
    resolve: (effectId, said) => recovery.reconciliation.resolve(effectId, said),
    // Made by the server from the same type.
    retell: async (id) => (await recovery.replay(id)) as unknown as Retold,
  };
}
