// Owns the handle on a workflow that its owner works with. Everything it writes carries the owner's
// fencing token; after another owner took the workflow it answers STALE_OWNER (C3).

import type { StepOptions, Transaction } from "@agenttx/engine";
import type { CommitOutcome, StepOutcome } from "@agenttx/model";
import { type Checkpoint, takeCheckpoint } from "./checkpoint.js";
import type { RecoveryCore } from "./core.js";
import { finish } from "./finish.js";
import { currentRevision, type WorkflowRecord } from "./workflow-record.js";
import { readWorkflow } from "./workflow-store.js";

export interface WorkflowSettings {
  /** `every-step`: a checkpoint follows each step that worked. */
  readonly checkpoints: "explicit" | "every-step";
}

export class Workflow {
  readonly #core: RecoveryCore;
  readonly #record: WorkflowRecord;
  readonly #settings: WorkflowSettings;
  /** The transaction of its revision: steps can also be sent to it directly. */
  readonly transaction: Transaction;

  /** Internal: handles come from `recovery.workflows`. */
  constructor(
    core: RecoveryCore,
    record: WorkflowRecord,
    transaction: Transaction,
    settings: WorkflowSettings,
  ) {
    this.#core = core;
    this.#record = record;
    this.#settings = settings;
    this.transaction = transaction;
  }

  get id(): string {
    return this.#record.workflow;
  }

  get namespace(): string {
    return this.#record.namespace;
  }

  get revision(): number {
    return currentRevision(this.#record).revision;
  }

  /** Given out to whoever works for this owner, for example over a network. */
  get fencingToken(): bigint {
    return this.#record.recovery.fencingToken;
  }

  /** A step of the revision; see Transaction.step. */
  async step(tool: string, args: unknown, options: StepOptions = {}): Promise<StepOutcome> {
    // Tools are known to the engine by name; their argument types belong to the application.
    const outcome = await this.transaction.step(tool, args as never, options);
    const { checkpoints } = this.#settings;
    if (outcome.status === "SUCCESS" && !outcome.repeated && checkpoints === "every-step") {
      await this.checkpoint(`step ${outcome.step}`);
    }
    return outcome;
  }

  /**
   * A place to come back to, after the last step: invariants are evaluated and stored with it.
   * Throws STALE_OWNER, STEP_IN_PROGRESS, TRANSACTION_FROZEN, TRANSACTION_ENDED.
   */
  checkpoint(name: string): Promise<Checkpoint> {
    return takeCheckpoint(this.#core, this.#record, name);
  }

  /** Commits the revision and puts the replaced ones away; see Transaction.commit. */
  async commit(): Promise<CommitOutcome> {
    const outcome = await this.transaction.commit();
    const { workflow, namespace } = this.#record;
    await finish(this.#core, await readWorkflow(this.#core, workflow, namespace));
    return outcome;
  }
}
