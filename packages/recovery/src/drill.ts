// Owns drills (C11): a recovery of every chosen workflow on a copy of the store, with simulated
// owners, measured. Nothing outside is called and the original is not touched: REQUIRES that `store`
// is a checkpoint copy that only this drill uses.

import {
  type Clock,
  createEngine,
  type Engine,
  systemClock,
  type ToolShape,
} from "@agenttx/engine";
import { type EffectRecord, isAgentTxError, type Store } from "@agenttx/model";
import type { CheckpointChoice } from "./choose-checkpoint.js";
import {
  type DrillOwners,
  type DrillTool,
  type OwnerBehaviour,
  simulatedTool,
} from "./drill-owners.js";
import { createRecovery, type Recovery, type RecoveryOptions } from "./recovery.js";

export interface DrillOptions
  extends Pick<RecoveryOptions, "invariants" | "schemaVersion" | "migrations"> {
  readonly store: Store;
  readonly owners?: DrillOwners;
  /** The real tools, for their shape; they are never called. Unknown ones count as complete. */
  readonly tools?: readonly ToolShape[];
  /** Default: every running or interrupted workflow of the namespace, at most `limit`. */
  readonly workflows?: readonly string[];
  readonly namespace?: string;
  /** Default 100. */
  readonly limit?: number;
  readonly checkpoint?: CheckpointChoice;
  /** Milliseconds that a slow owner takes; default 200. */
  readonly slowMs?: number;
  /** Milliseconds after which an owner counts as silent; default 1,000. */
  readonly deadlineMs?: number;
  readonly clock?: Clock;
}

export interface DrilledWorkflow {
  readonly workflow: string;
  /** State at the end; `Running` when it has recovered. */
  readonly state: string;
  /** From the freeze to the new revision, or to the point where people would take over. */
  readonly recoveryMs: number;
  readonly undone: number;
  /** What would stay unresolved, and why. */
  readonly unresolved: readonly {
    readonly effectId: string;
    readonly tool: string;
    readonly problem: string;
  }[];
  /** Why it could not be drilled; null otherwise. */
  readonly refused: string | null;
}

export interface DrillReport {
  readonly workflows: readonly DrilledWorkflow[];
  readonly recovered: number;
  readonly stuck: number;
  /** Of those that recovered, milliseconds. */
  readonly recoveryMs: { readonly median: number; readonly max: number };
  readonly owners: readonly DrillTool[];
  /** Tools whose wrong answers nobody would notice: they have no verification. */
  readonly unverified: readonly string[];
  readonly settings: { readonly slowMs: number; readonly deadlineMs: number };
}

const NOTHING_BUT_TIMERS = { pollMs: 60_000, inlineTries: 2, backoffBaseMs: 20, backoffCapMs: 40 };

/** Throws NOT_FOUND for a workflow that was named and is not there. */
export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const { store, clock = systemClock, namespace = "" } = options;
  const { slowMs = 200, deadlineMs = 1_000 } = options;
  const simulated = await simulateOwners(options, clock, slowMs);
  const limits = {
    ...NOTHING_BUT_TIMERS,
    toolDeadlineMs: deadlineMs,
    lookupDeadlineMs: deadlineMs,
    inlineMs: deadlineMs * 4,
  };
  const tools: readonly ToolShape[] = simulated.map(({ tool }) => tool);
  const engine = createEngine({ store, tools, clock, effects: limits, idleTimeoutMs: 0 });
  const recovery = createRecovery({ ...options, engine, store, clock });
  try {
    const ids = options.workflows ?? (await openOnes(recovery, namespace, options.limit ?? 100));
    const workflows: DrilledWorkflow[] = [];
    for (const id of ids) workflows.push(await drillOne(recovery, engine, id, options, clock));
    const owners = simulated.map(({ facts }) => facts());
    return reportOf(workflows, owners, { slowMs, deadlineMs });
  } finally {
    await engine.close();
  }
}

async function openOnes(
  recovery: Recovery,
  namespace: string,
  limit: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ids.length < limit; ) {
    const page = await recovery.workflows.list({
      namespace,
      limit: 1_000,
      ...(after === undefined ? {} : { after }),
    });
    const open = page.filter(({ transactionStatus }) => !ENDED.includes(transactionStatus));
    ids.push(...open.map(({ id }) => id));
    after = page.at(-1)?.id;
    if (after === undefined) break;
  }
  return ids.slice(0, limit);
}

const ENDED: readonly string[] = ["COMMITTED", "EXPIRED"];

/** Every tool that the ledger names, simulated. */
async function simulateOwners(options: DrillOptions, clock: Clock, slowMs: number) {
  const { store, owners = {}, tools = [], namespace = "" } = options;
  const seen = new Map<string, Pick<EffectRecord, "tool" | "effectClass">>();
  for await (const effect of ledgerEntries(store, "effect", namespace)) {
    // Both spaces hold JSON that the engine wrote; only these members are used.
    const { tool, effectClass } = effect as unknown as EffectRecord;
    seen.set(tool, { tool, effectClass });
  }
  const actions = new Map<string, Set<string>>();
  for await (const undo of ledgerEntries(store, "saga", namespace)) {
    const { tool, action } = undo as { tool: string; action: string };
    actions.set(tool, (actions.get(tool) ?? new Set()).add(action));
  }
  const behaviourOf = (tool: string): OwnerBehaviour =>
    owners.byTool?.[tool] ?? owners.others ?? "healthy";
  return [...seen.values()].map((record) => {
    const real = tools.find(({ name }) => name === record.tool) ?? null;
    const undoActions = actions.get(record.tool) ?? new Set<string>();
    return simulatedTool(record, real, behaviourOf(record.tool), { clock, slowMs, undoActions });
  });
}

async function* ledgerEntries(
  store: Store,
  space: "effect" | "saga",
  namespace: string,
): AsyncGenerator<Record<string, unknown>> {
  for (let after: Parameters<Store["scanRecords"]>[1]["after"]; ; ) {
    const page = await store.scanRecords(space, {
      transaction: null,
      namespace,
      ...(after === undefined ? {} : { after }),
    });
    for (const { value } of page) {
      yield JSON.parse(Buffer.from(value).toString("utf8")) as Record<string, unknown>;
    }
    after = page.at(-1);
    if (after === undefined) return;
  }
}

async function drillOne(
  recovery: Recovery,
  engine: Engine,
  id: string,
  options: DrillOptions,
  clock: Clock,
): Promise<DrilledWorkflow> {
  const { namespace = "", checkpoint } = options;
  const where = { namespace };
  const begun = clock.monotonic();
  try {
    await recovery.freeze(id, { actor: "drill", reason: "drill" }, where);
    const frozen = await recovery.workflows.get(id, where);
    const view =
      frozen.state === "Frozen"
        ? await recovery.apply(
            await recovery.plan(id, {
              ...where,
              ...(checkpoint === undefined ? {} : { checkpoint }),
            }),
            { actor: "drill" },
          )
        : await recovery.resume(id, { actor: "drill" }, where);
    const recoveryMs = clock.monotonic() - begun;
    const items = await recovery.reconciliation.list(id, where);
    const unresolved = items.map(({ effect }) => {
      const { effectId, tool, problem } = effect;
      return { effectId, tool, problem: problem ?? "" };
    });
    const undone = await undoneIn(engine, view.revisions, namespace);
    return { workflow: id, state: view.state, recoveryMs, undone, unresolved, refused: null };
  } catch (error) {
    if (!isAgentTxError(error)) throw error;
    const recoveryMs = clock.monotonic() - begun;
    const { state } = await recovery.workflows.get(id, where);
    const refused = error.message;
    return { workflow: id, state, recoveryMs, undone: 0, unresolved: [], refused };
  }
}

async function undoneIn(
  engine: Engine,
  revisions: readonly { readonly transaction: string }[],
  namespace: string,
): Promise<number> {
  let undone = 0;
  for (const { transaction } of revisions) {
    const effects = await engine.effects(transaction, { namespace });
    undone += effects.filter(({ state }) => state === "compensated").length;
  }
  return undone;
}

function reportOf(
  workflows: readonly DrilledWorkflow[],
  owners: readonly DrillTool[],
  settings: DrillReport["settings"],
): DrillReport {
  const recovered = workflows.filter(({ state }) => state === "Running");
  const times = recovered.map(({ recoveryMs }) => recoveryMs).sort((one, other) => one - other);
  return {
    workflows,
    recovered: recovered.length,
    stuck: workflows.length - recovered.length,
    recoveryMs: { median: times[Math.floor(times.length / 2)] ?? 0, max: times.at(-1) ?? 0 },
    owners,
    unverified: owners.filter(({ verified }) => !verified).map(({ name }) => name),
    settings,
  };
}
