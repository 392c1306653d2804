// Owns where the commands about workflows work: on a data directory (this process opens it), or on a
// running server (`--server`), with the same questions and answers.

import type { AgentTxClient } from "@agenttx/client";
import type {
  EffectRecord,
  ReconciliationItem,
  RecoveryPlan,
  ResolutionKind,
  WorkflowView,
} from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import type { RecordedEvent, Recovery, ResumeReport, WorkflowReplay } from "@agenttx/recovery";

/** A replay with the events that led to it. */
export type Retold = WorkflowReplay & { readonly events: readonly RecordedEvent[] };

export interface RecoveryCalls {
  freeze(id: string, by: { actor: string; reason: string }): Promise<WorkflowView>;
  plan(id: string, checkpoint: string): Promise<RecoveryPlan>;
  apply(plan: RecoveryPlan, options: { actor: string; resume: boolean }): Promise<WorkflowView>;
  resume(id: string, by: { actor: string }): Promise<WorkflowView>;
  resumeAll(): Promise<ResumeReport>;
  /** In the order of their ids. */
  workflows(limit: number): Promise<readonly WorkflowView[]>;
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
    workflows: (limit) => listAll(recovery, limit),
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

async function listAll(recovery: Recovery, limit: number): Promise<readonly WorkflowView[]> {
  const all: WorkflowView[] = [];
  for (let after: string | undefined; all.length < limit; ) {
    const page = await recovery.workflows.list({
      limit: Math.min(limit - all.length, PAGE),
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page);
    after = page.at(-1)?.id;
    if (after === undefined) break;
  }
  return all;
}

const PAGE = 1_000;

export function serverCalls({ recovery }: AgentTxClient): RecoveryCalls {
  return {
    freeze: (id, by) => recovery.freeze(id, by),
    plan: (id, checkpoint) => recovery.plan(id, { checkpoint }),
    apply: (plan, options) => recovery.apply(plan, options),
    resume: (id, by) => recovery.resume(id, by),
    resumeAll: () => {
      throw new AgentTxError(
        "INVALID_ARGUMENT",
        "A server goes on with interrupted recoveries at its own start; nothing was changed. Name the workflow to go on with one.",
      );
    },
    workflows: (limit) => recovery.workflows.list({ limit }),
    items: (workflow) => recovery.reconciliation.list(workflow),
    resolve: (effectId, said) => recovery.reconciliation.resolve(effectId, said),
    // Made by the server from the same type.
    retell: async (id) => (await recovery.replay(id)) as unknown as Retold,
  };
}
