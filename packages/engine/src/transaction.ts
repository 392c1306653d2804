// Owns the handle on one transaction that users hold. It has no state of its own: two handles of
// one transaction see the same.
import type {
  CommitOutcome,
  RollbackOutcome,
  StepOutcome,
  TransactionStatus,
  TransactionView,
} from "@agenttx/model";
import { requireReason } from "./abort.js";
import { type HistoryEntry, readHistory } from "./history.js";
import {
  abortOperation,
  commitOperation,
  reportOperation,
  rollbackOperation,
  stepOperation,
} from "./operations.js";
import type { ReportedFailure } from "./rewind.js";
import type { OpenTransaction } from "./state.js";
import type { StepOptions } from "./step/request.js";
import type { StepArguments, StepOutput, ToolName, ToolShape } from "./tool-types.js";
import { endedView, openView } from "./view.js";

export class Transaction<Tools extends readonly ToolShape[] = readonly ToolShape[]>
  implements AsyncDisposable
{
  readonly #open: OpenTransaction;

  /** Internal: handles come from `engine.begin` and `engine.resume`. */
  constructor(open: OpenTransaction) {
    this.#open = open;
  }

  get id(): string {
    return this.#open.id;
  }

  get namespace(): string {
    return this.#open.namespace;
  }

  /** The owner this handle writes for (C3); storage refuses it once another has taken it. */
  get fencingToken(): bigint {
    return this.#open.owner;
  }

  /** The step that is sent next; 0 while frozen and after the end (P6). */
  get nextStep(): number {
    const { ended, header, nextStep } = this.#open;
    return ended !== null || header.status === "FROZEN" ? 0 : nextStep;
  }

  get status(): TransactionStatus {
    const { ended, header, lock } = this.#open;
    if (ended !== null) return ended.status;
    if (header.status !== "ACTIVE") return header.status;
    if (lock.running?.kind === "step") return "EXECUTING";
    return lock.running?.kind === "commit" ? "COMMITTING" : "ACTIVE";
  }

  /**
   * Runs one tool call as the next step. The answer is a value: SUCCESS, ROLLBACK_TRIGGERED (go on
   * at `nextStep`), or FAILED (ended, or frozen until an effect is resolved). Arguments that the
   * tool does not accept, unknown tools and tool errors are answers too.
   *
   * Throws for misuse and infrastructure: STEP_OUT_OF_ORDER, STEP_IN_PROGRESS, REQUEST_ID_REUSED,
   * REQUEST_UNDONE, TRANSACTION_FROZEN, TRANSACTION_ENDED, ABORTED_BY_SIGNAL, store errors. The
   * step then counts as not run: what it did is undone before the next one.
   */
  step<const Name extends ToolName<Tools>>(
    name: Name,
    args: StepArguments<Tools, Name>,
    options: StepOptions = {},
  ): Promise<StepOutcome<StepOutput<Tools, Name>>> {
    // The output's type comes from the tool of this name, whose execute made it.
    return stepOperation(this.#open, name, args, options) as Promise<
      StepOutcome<StepOutput<Tools, Name>>
    >;
  }

  /** A step that worked turned out wrong: decided and rolled back like its failure (R9a). */
  reportFailure(step: number, failure: ReportedFailure): Promise<StepOutcome> {
    return reportOperation(this.#open, step, failure);
  }

  /**
   * Rewinds to before step `toStep` (>= 1); the transaction stays open and goes on there.
   * `rolledBack` is false when an effect could not be undone: then it is frozen.
   */
  rollback(
    toStep: number,
    options: { readonly requestId?: string } = {},
  ): Promise<RollbackOutcome> {
    return rollbackOperation(this.#open, toStep, options.requestId ?? null);
  }

  /**
   * Publishes everything and delivers staged effects. Repeated, it returns the first outcome.
   * Throws WriteConflictError when another transaction was first: nothing was written, and this
   * one can only be aborted. RECONCILIATION_REQUIRED while an effect is unresolved.
   */
  commit(): Promise<CommitOutcome> {
    return commitOperation(this.#open);
  }

  /**
   * Undoes everything and ends with ROLLED_BACK; a running step is told to stop first. Repeated,
   * it returns the first outcome. Effects that could not be undone stay listed, and are retried.
   */
  async abort(reason = "ABORTED_BY_CALLER"): Promise<RollbackOutcome> {
    requireReason(reason);
    return abortOperation(this.#open, reason);
  }

  async view(): Promise<TransactionView> {
    const { engine, id, namespace, ended } = this.#open;
    const view = ended === null ? null : await endedView(engine, id, namespace);
    return view ?? openView(this.#open);
  }

  /** What ran, what was undone and why, from the audit chain; calls no tool. */
  history(): Promise<readonly HistoryEntry[]> {
    return readHistory(this.#open.engine.store, this.id, this.namespace);
  }

  /**
   * Leaving the scope of `await using` without a commit aborts. An ended or frozen transaction is
   * left as it is, and so is one of an engine that has closed: that one is resumed later.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const { ended, header, engine } = this.#open;
    if (ended !== null || header.status === "FROZEN" || engine.closing) return;
    await this.abort("LEFT_WITHOUT_COMMIT");
  }
}
