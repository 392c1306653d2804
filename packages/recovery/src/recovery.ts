// Owns the recovery of one engine's workflows: the public calls, each in its workflow's turn.

import type { Clock, Engine, ToolShape } from "@agenttx/engine";
import { systemClock } from "@agenttx/engine";
import { AgentTxError, type EffectRecord, type Store, type WorkflowState } from "@agenttx/model";
import { type ApplyOptions, classify } from "./apply.js";
import { type Attention, readAttention } from "./attention.js";
import { type Checkpoint, readCheckpoints } from "./checkpoint.js";
import type { CheckpointChoice } from "./choose-checkpoint.js";
import { type RecoveredEvent, type RecoveryCore, Turns, turnKey } from "./core.js";
import { drive, onlyWaits } from "./drive.js";
import { finish } from "./finish.js";
import { type FreezeRequest, freeze } from "./freeze.js";
import type { Invariant } from "./invariant.js";
import type { Migration } from "./migrations.js";
import { takeOver } from "./ownership.js";
import { planRecovery, type RecoveryPlan } from "./plan.js";
import { type ReconciliationItem, reconciliationItems } from "./reconciliation.js";
import { type ResumeReport, resumeAll } from "./resume-all.js";
import {
  explainWorkflow,
  replayWorkflow,
  type WorkflowReplay,
  type WorkflowStory,
} from "./story.js";
import { viewOf, type WorkflowView } from "./view.js";
import type { Workflow, WorkflowSettings } from "./workflow.js";
import { SYSTEM } from "./workflow-audit.js";
import type { WorkflowRecord } from "./workflow-record.js";
import { listWorkflows, readWorkflow } from "./workflow-store.js";
import { acquireWorkflow, openWorkflow, type StartWorkflow, startWorkflow } from "./workflows.js";

export interface RecoveryOptions<Tools extends readonly ToolShape[] = readonly ToolShape[]> {
  /** Made on the same store; it must outlive the recovery. */
  readonly engine: Engine<Tools>;
  readonly store: Store;
  readonly clock?: Clock;
  readonly invariants?: readonly Invariant[];
  /** Version of the application's data; a whole number from 1, default 1 (C7). */
  readonly schemaVersion?: number;
  /** By the version that they migrate from. */
  readonly migrations?: Readonly<Record<number, Migration>>;
  /** Default `explicit`. */
  readonly checkpoints?: WorkflowSettings["checkpoints"];
  /** Called when a workflow is Running again. What it throws decides nothing. */
  readonly onRecovered?: (event: RecoveredEvent) => void;
}

interface InNamespace {
  readonly namespace?: string;
}

export interface ListWorkflows extends InNamespace {
  /** The last id of the page before. */
  readonly after?: string;
  readonly limit?: number;
  /** Default: any. Without Running only what is in recovery is read. */
  readonly states?: readonly WorkflowState[];
}

export interface PlanOptions extends InNamespace {
  /** Default: the newest validated one that can be restored. */
  readonly checkpoint?: CheckpointChoice;
}

export class Recovery {
  readonly #core: RecoveryCore;
  readonly #settings: WorkflowSettings;

  /** Internal: use `createRecovery`. */
  constructor(core: RecoveryCore, settings: WorkflowSettings) {
    this.#core = core;
    this.#settings = settings;
  }

  readonly workflows = {
    start: (options: StartWorkflow = {}): Promise<Workflow> => {
      const start = () => startWorkflow(this.#core, this.#settings, options);
      const { id, namespace = "" } = options;
      return id === undefined ? start() : this.#turn(id, namespace, start);
    },
    /** A handle on a running workflow; with the token of an owner, only for that owner. */
    open: (id: string, options: InNamespace & { fencingToken?: bigint } = {}): Promise<Workflow> =>
      openWorkflow(
        this.#core,
        this.#settings,
        id,
        options.namespace ?? "",
        options.fencingToken ?? null,
      ),
    /** Takes a running workflow from whoever has it (C3). */
    acquireOwnership: (id: string, owner: string, options: InNamespace = {}): Promise<Workflow> => {
      const { namespace = "" } = options;
      return this.#turn(id, namespace, () =>
        acquireWorkflow(this.#core, this.#settings, id, namespace, owner),
      );
    },
    get: async (id: string, options: InNamespace = {}): Promise<WorkflowView> =>
      viewOf(this.#core, await readWorkflow(this.#core, id, options.namespace ?? "")),
    /** In the order of their ids; at most `limit` (default 100, up to 1,000). */
    list: async (page: ListWorkflows = {}): Promise<readonly WorkflowView[]> => {
      const limit = Math.min(Math.max(page.limit ?? 100, 1), 1_000);
      const where = { ...page, namespace: page.namespace ?? "", limit };
      const records = await listWorkflows(this.#core, where);
      return Promise.all(records.map((record) => viewOf(this.#core, record)));
    },
    checkpoints: async (id: string, options: InNamespace = {}): Promise<readonly Checkpoint[]> =>
      readCheckpoints(this.#core, await readWorkflow(this.#core, id, options.namespace ?? "")),
  };

  readonly reconciliation = {
    /** What is open in a workflow, with evidence; oldest first. */
    list: async (id: string, options: InNamespace = {}): Promise<readonly ReconciliationItem[]> =>
      reconciliationItems(this.#core, await readWorkflow(this.#core, id, options.namespace ?? "")),
    /**
     * Records what became of an effect; the workflow goes on by itself when it was the last one.
     * As Engine.resolveEffect: an equal repetition is harmless, another is RESOLUTION_CONFLICT.
     */
    resolve: (
      effectId: string,
      resolution: Parameters<Engine["resolveEffect"]>[1],
      options: InNamespace = {},
    ): Promise<EffectRecord> => this.#core.engine.resolveEffect(effectId, resolution, options),
  };

  /** Stops new work of a running workflow: from now on its owner is refused everywhere (C3, C4). */
  async freeze(
    id: string,
    request: FreezeRequest,
    { namespace = "" }: InNamespace = {},
  ): Promise<WorkflowView> {
    const frozen = await this.#turn(id, namespace, () =>
      freeze(this.#core, id, namespace, request),
    );
    return viewOf(this.#core, frozen);
  }

  /** What applying would do. A dry run: it changes nothing, in any state of the workflow (C5). */
  async plan(id: string, options: PlanOptions = {}): Promise<RecoveryPlan> {
    const { namespace = "", checkpoint = "latest" } = options;
    const record = await readWorkflow(this.#core, id, namespace);
    return (await planRecovery(this.#core, record, checkpoint)).plan;
  }

  /**
   * Carries the plan out, as far as it goes now: to the new revision, to Reconciliation with what
   * needs a person or a retry, or to Recovered with `resume: false`. Repeating it with the same plan
   * is harmless, also when it was carried out. Throws PLAN_CHANGED, WORKFLOW_STATE, MIGRATION_MISSING; nothing was changed then.
   */
  async apply(
    plan: Pick<RecoveryPlan, "workflow" | "namespace" | "checkpoint" | "digest">,
    options: ApplyOptions,
  ): Promise<WorkflowView> {
    const { workflow, namespace } = plan;
    await this.start();
    const record = await this.#turn(workflow, namespace, async () =>
      drive(this.#core, await classify(this.#core, plan, options)),
    );
    return viewOf(this.#core, record);
  }

  /** Goes on with a recovery: after `resume: false`, or when an invariant was put right. */
  async resume(
    id: string,
    by: { readonly actor: string },
    { namespace = "" }: InNamespace = {},
  ): Promise<WorkflowView> {
    await this.start();
    const record = await this.#turn(id, namespace, () => this.#goOn(id, namespace, by.actor, true));
    return viewOf(this.#core, record);
  }

  /** Goes on with every recovery that a crash or shutdown interrupted (C4). Call it at start. */
  async resumeAll(options: { readonly concurrency?: number } = {}): Promise<ResumeReport> {
    await this.start();
    return resumeAll(this.#core, options, (id, namespace) =>
      this.#turn(id, namespace, () => this.#goOn(id, namespace, SYSTEM, false)),
    );
  }

  /** Listens for the moment when the last open effect of a workflow is settled. */
  start(): Promise<void> {
    return this.#core.revisions.start(async (id, namespace) => {
      await this.#turn(id, namespace, () => this.#goOn(id, namespace, SYSTEM, false));
    });
  }

  /** Workflows that are not Running, by state (C12); at most `limit` are read (default 1,000). */
  attention({ limit = 1_000 }: { readonly limit?: number } = {}): Promise<Attention> {
    return readAttention(this.#core, limit);
  }

  /** What happened and why, from the audit alone (C13). */
  async explain(id: string, { namespace = "" }: InNamespace = {}): Promise<WorkflowStory> {
    return explainWorkflow(this.#core, await readWorkflow(this.#core, id, namespace));
  }

  /** The recorded facts and decisions once more, without a tool or a model (C13). */
  async replay(id: string, { namespace = "" }: InNamespace = {}): Promise<WorkflowReplay> {
    return replayWorkflow(this.#core, await readWorkflow(this.#core, id, namespace));
  }

  async #goOn(
    id: string,
    namespace: string,
    actor: string,
    asked: boolean,
  ): Promise<WorkflowRecord> {
    const record = await readWorkflow(this.#core, id, namespace);
    const { state } = record.recovery;
    if (state === "Running") return finish(this.#core, record);
    if (record.run === null || record.run.checkpoint === null) {
      if (!asked) return record;
      throw new AgentTxError(
        "WORKFLOW_STATE",
        `Workflow ${id} is ${state} and no plan was applied yet; nothing was changed. Plan and apply.`,
        { details: { workflow: id, state } },
      );
    }
    if (!asked && (await onlyWaits(this.#core, record))) return record;
    const wanted = asked ? { ...record, run: { ...record.run, resume: true } } : record;
    if (state === "Recovered" && !wanted.run?.resume) return record;
    const why = asked ? "The recovery is continued by request" : "The recovery goes on";
    return drive(this.#core, await takeOver(this.#core, wanted, actor, why));
  }

  /** STALE_OWNER inside a turn means that another process drives: it is reported, not repeated. */
  #turn<Result>(id: string, namespace: string, work: () => Promise<Result>): Promise<Result> {
    return this.#core.turns.run(turnKey(id, namespace), work);
  }
}

/** Recovery of the workflows on an engine's store. Throws INVALID_ARGUMENT. */
export function createRecovery<Tools extends readonly ToolShape[]>(
  options: RecoveryOptions<Tools>,
): Recovery {
  // Recovery knows tools by name alone; their argument types matter only to who calls them.
  const engine = options.engine as unknown as Engine<readonly ToolShape[]>;
  const { store, clock = systemClock, schemaVersion = 1 } = options;
  if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 1) {
    throw new AgentTxError("INVALID_ARGUMENT", "schemaVersion is a whole number from 1.", {
      details: { field: "schemaVersion" },
    });
  }
  const core: RecoveryCore = {
    engine,
    revisions: engine.revisions,
    store,
    clock,
    invariants: options.invariants ?? [],
    schemaVersion,
    migrations: options.migrations ?? {},
    turns: new Turns(),
    onRecovered: options.onRecovered ?? (() => undefined),
  };
  return new Recovery(core, { checkpoints: options.checkpoints ?? "explicit" });
}
