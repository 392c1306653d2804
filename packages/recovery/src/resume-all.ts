// Owns going on with interrupted recoveries at start (C4, C8).
//
//   V1 Only workflows that need work are read: their number decides, not how many there are.
//   V2 One that fails is reported and stays as it is; it blocks neither the others nor the start.

import { reasonText } from "@agenttx/engine";
import type { RecoveryCore } from "./core.js";
import { namespacesOf } from "./namespaces.js";
import type { WorkflowRecord } from "./workflow-record.js";
import { workflowsAtWork } from "./workflow-store.js";

export interface ResumeReport {
  readonly found: number;
  /** Running again, or finished. */
  readonly running: number;
  /** Wait for a plan, a person, a retry or `resume`; by workflow id. */
  readonly waiting: readonly string[];
  readonly problems: readonly { readonly workflow: string; readonly message: string }[];
}

const LANES_DEFAULT = 4;

export async function resumeAll(
  core: RecoveryCore,
  options: { readonly concurrency?: number },
  goOn: (workflow: string, namespace: string) => Promise<WorkflowRecord>,
): Promise<ResumeReport> {
  const report = { found: 0, running: 0 };
  const waiting: string[] = [];
  const problems: { workflow: string; message: string }[] = [];
  const lanes = Math.min(Math.max(options.concurrency ?? LANES_DEFAULT, 1), 64);
  for (const namespace of await namespacesOf(core.store)) {
    // Collected first: going on removes entries from the list that is read.
    const queue: string[] = [];
    for await (const workflow of workflowsAtWork(core, { namespace })) queue.push(workflow);
    report.found += queue.length;
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        try {
          const { recovery } = await goOn(next, namespace);
          if (recovery.state === "Running") report.running += 1;
          else waiting.push(next);
        } catch (error) {
          const message = reasonText(error);
          problems.push({ workflow: next, message });
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
  }
  return { ...report, waiting, problems };
}
