// Owns the count of workflows that are not Running, for metrics and alarms (C12): by state, with the
// age of the oldest. Reads the list of those at work (J2), never every workflow.

import type { WorkflowState } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { namespacesOf } from "./namespaces.js";
import { readWorkflow, workflowsAtWork } from "./workflow-store.js";

export type RecoveryState = Exclude<WorkflowState, "Running">;

export interface Attention {
  /** Workflows in each state, of all namespaces. */
  readonly states: Readonly<
    Record<RecoveryState, { readonly count: number; readonly oldestMs: number }>
  >;
  /** True when there are more than were counted. */
  readonly capped: boolean;
}

/** At most `limit` workflows are read. One whose record is damaged is passed over. */
export async function readAttention(core: RecoveryCore, limit: number): Promise<Attention> {
  const empty = () => ({ count: 0, oldestMs: 0 });
  const states = {
    Frozen: empty(),
    Compensating: empty(),
    Reconciliation: empty(),
    Recovered: empty(),
  };
  const nowMs = core.clock.now();
  let looked = 0;
  for (const namespace of await namespacesOf(core.store)) {
    for await (const workflow of workflowsAtWork(core, { namespace })) {
      if (looked === limit) return { states, capped: true };
      looked += 1;
      const { state, changedAtMs } = await changeOf(core, workflow, namespace);
      if (state === "Running") continue;
      const seen = states[state];
      seen.count += 1;
      seen.oldestMs = Math.max(seen.oldestMs, nowMs - changedAtMs);
    }
  }
  return { states, capped: false };
}

async function changeOf(core: RecoveryCore, workflow: string, namespace: string) {
  try {
    return (await readWorkflow(core, workflow, namespace)).recovery;
  } catch {
    // Ended between the two reads, or unreadable: `resumeAll` reports the latter.
    return { state: "Running", changedAtMs: 0 } as const;
  }
}
