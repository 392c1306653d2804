// Owns the client's transaction handle: the shape of the embedded engine's.
// Every call that changes something carries a request id, made here when the caller gives none, so
// that a broken connection never runs a step twice. An id is used for one call and never inherited.

import {
  AgentTxError,
  type CommitOutcome,
  type JsonObject,
  type RollbackOutcome,
  type StepOutcome,
  type TransactionStatus,
  type TransactionView,
} from "@agenttx/model";
import {
  commitFromWire,
  outcomeFromWire,
  rollbackFromWire,
  type steps,
  viewFromWire,
} from "@agenttx/wire";
import { uuidv7 } from "uuidv7";
import { runLocalStep } from "./local-step.js";
import type { HistoryEntry } from "./operators.js";
import type { LocalTool } from "./tool-calls.js";
import type { StepArguments, StepOutput, ToolLike, ToolName } from "./tool-types.js";
import type { Transport } from "./transport.js";

export interface StepOptions {
  /** Must equal `nextStep`; checked by the server. Default: `nextStep`. */
  readonly stepId?: number;
  /** Default: a fresh one. */
  readonly requestId?: string;
  /** What the agent wants to keep about this step, at most 1 MiB. */
  readonly rawContext?: string;
  readonly signal?: AbortSignal;
}

export interface CallSignal {
  readonly signal?: AbortSignal;
}

/** What a handle needs of its client. */
export interface HandleParts {
  readonly transport: Transport;
  readonly history: (transactionId: string) => Promise<readonly HistoryEntry[]>;
}

export class ClientTransaction<Tools extends readonly ToolLike[] = readonly ToolLike[]>
  implements AsyncDisposable
{
  readonly id: string;
  /** Of the owner it works for, when it is a workflow's (C3); 0 otherwise. */
  readonly fencingToken: bigint;
  readonly #parts: HandleParts;
  #nextStep: number;
  #status: TransactionStatus;

  /** Internal: handles come from `client.begin` and `client.resume`. */
  constructor(
    parts: HandleParts,
    known: {
      readonly id: string;
      readonly nextStep: number;
      readonly status?: TransactionStatus;
      readonly fencingToken?: bigint;
    },
  ) {
    this.#parts = parts;
    this.id = known.id;
    this.fencingToken = known.fencingToken ?? 0n;
    this.#nextStep = known.nextStep;
    this.#status = known.status ?? "ACTIVE";
  }

  /** The number of the next step, from the last answer; 0 when ended or frozen. */
  get nextStep(): number {
    return this.#nextStep;
  }

  /** As the last answer said; `view` asks the server. */
  get status(): TransactionStatus {
    return this.#status;
  }

  /** Runs one tool call on the server. A rollback is an answer, not an exception. */
  async step<const Name extends ToolName<Tools>>(
    tool: Name,
    args: StepArguments<Tools, Name>,
    options: StepOptions = {},
  ): Promise<StepOutcome<StepOutput<Tools, Name>>> {
    const response = await this.#parts.transport.call(
      "step",
      {
        transactionId: this.id,
        stepId: options.stepId ?? this.#nextStep,
        toolName: tool,
        argumentsJson: JSON.stringify(args),
        rawContext: options.rawContext ?? "",
        requestId: requestId(options.requestId),
        fencingToken: this.fencingToken,
      },
      { signal: options.signal },
    );
    // The output's type comes from the tool of this name, whose execute made it.
    return this.#take(response) as StepOutcome<StepOutput<Tools, Name>>;
  }

  /**
   * Runs one step whose tool is in this process: the server records the intent, `tool.execute`
   * runs here, the server records the result. Undo, lookup and delivery are asked of a worker
   * (`client.serve`); without one they wait there, visible.
   *
   * The tool's state is write-only: what it puts is written with the step. An irreversible tool
   * is staged and sent by a worker after the commit. An effect that depends on the arguments is
   * chosen before references are resolved.
   */
  async runLocal<Output>(
    tool: LocalTool & { execute(args: never, context: never): Output },
    args: JsonObject,
    options: StepOptions = {},
  ): Promise<StepOutcome<Awaited<Output>>> {
    const response = await runLocalStep({
      transport: this.#parts.transport,
      transaction: this.id,
      fencingToken: this.fencingToken,
      step: options.stepId ?? this.#nextStep,
      tool,
      args,
      rawContext: options.rawContext ?? "",
      requestId: requestId(options.requestId),
      signal: options.signal,
    });
    // The output's type is that of the tool's execute, whose result crossed as JSON.
    return this.#take(response) as StepOutcome<Awaited<Output>>;
  }

  /** A step that succeeded turned out wrong: decided like a failure of that step (R9a). */
  async reportFailure(
    step: number,
    report: { readonly key?: string | null; readonly text: string; readonly requestId?: string },
    options: CallSignal = {},
  ): Promise<StepOutcome> {
    const { outcome } = await this.#parts.transport.call(
      "reportFailure",
      {
        transactionId: this.id,
        stepId: step,
        key: report.key ?? "",
        text: report.text,
        requestId: requestId(report.requestId),
        fencingToken: this.fencingToken,
      },
      { signal: options.signal },
    );
    if (outcome === undefined) throw new AgentTxError("INTERNAL", "an answer without an outcome");
    return this.#take(outcome);
  }

  /** Rewinds to before `toStep` (>= 1) and stays open. */
  async rollback(
    toStep: number,
    options: CallSignal & { readonly requestId?: string } = {},
  ): Promise<RollbackOutcome> {
    if (!Number.isSafeInteger(toStep) || toStep < 1) {
      throw new AgentTxError("INVALID_ARGUMENT", "`toStep` must be 1 or more; use abort() to end.");
    }
    return this.#rollback(toStep, "", options);
  }

  /** Ends the transaction: everything compensated, staged effects dropped, state discarded. */
  async abort(reason = "ABORTED_BY_CALLER", options: CallSignal = {}): Promise<RollbackOutcome> {
    return this.#rollback(undefined, reason, options);
  }

  /** Publishes the state. Throws WRITE_CONFLICT when another transaction was first. */
  async commit(options: CallSignal = {}): Promise<CommitOutcome> {
    const { id: transactionId, fencingToken } = this;
    const request = { transactionId, fencingToken, requestId: requestId(undefined) };
    const outcome = commitFromWire(
      await this.#parts.transport.call("commit", request, { signal: options.signal }),
    );
    this.#nextStep = 0;
    this.#status = "COMMITTED";
    return outcome;
  }

  /** What the transaction is now; pages of the context are joined. */
  async view(options: CallSignal = {}): Promise<TransactionView> {
    const view = await fetchView(this.#parts.transport, this.id, options);
    this.#nextStep = view.nextStep;
    this.#status = view.status;
    return view;
  }

  /** What ran, what was undone and why, from the audit chain; calls no tool. */
  history(): Promise<readonly HistoryEntry[]> {
    return this.#parts.history(this.id);
  }

  /** Leaving the scope of `await using` aborts; an ended or frozen transaction is left as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (isOver(this.#status) || this.#status === "FROZEN") return;
    await this.abort("LEFT_WITHOUT_COMMIT");
  }

  async #rollback(
    toStep: number | undefined,
    reason: string,
    options: CallSignal & { readonly requestId?: string },
  ): Promise<RollbackOutcome> {
    const request = {
      transactionId: this.id,
      toStep,
      reason,
      requestId: requestId(options.requestId),
      fencingToken: this.fencingToken,
    };
    const outcome = rollbackFromWire(
      await this.#parts.transport.call("rollback", request, { signal: options.signal }),
    );
    this.#nextStep = outcome.nextStep;
    this.#status = outcome.status;
    return outcome;
  }

  #take(response: steps.ExecuteStepResponse): StepOutcome {
    const outcome = outcomeFromWire(response);
    this.#nextStep = outcome.nextStep;
    this.#status = outcome.status === "FAILED" ? outcome.transactionStatus : "ACTIVE";
    return outcome;
  }
}

/** True for a status that never changes again. */
export function isOver(status: TransactionStatus): boolean {
  return status === "COMMITTED" || status === "ROLLED_BACK" || status === "FAILED";
}

/** All pages of one transaction's view. */
export async function fetchView(
  transport: Transport,
  transactionId: string,
  options: CallSignal,
): Promise<TransactionView> {
  const first = await transport.call(
    "get",
    { transactionId, contextPageToken: "" },
    { signal: options.signal },
  );
  const context = [...first.context];
  let token = first.contextNextPageToken;
  while (token !== "") {
    const page = await transport.call(
      "get",
      { transactionId, contextPageToken: token },
      { signal: options.signal },
    );
    context.push(...page.context);
    token = page.contextNextPageToken;
  }
  return viewFromWire({ ...first, context });
}

/** A given id as it is; a fresh one when none was given. An empty one is refused (P1). */
export function requestId(given: string | undefined): string {
  if (given === undefined) return uuidv7();
  if (given === "") {
    throw new AgentTxError("INVALID_ARGUMENT", "`requestId` is empty; omit it or give one.");
  }
  return given;
}
