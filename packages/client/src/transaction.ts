// Owns the client's transaction handle: the shape of the embedded engine's.
// Every call that changes something carries a request id, made here when the caller gives none, so
// that a broken connection never runs a step twice. An id is used for one call and never inherited.

import {
  AgentTxError,
  type CommitOutcome,
  type JsonObject,
  type RollbackOutcome,
  type StepOutcome,
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

export class ClientTransaction implements AsyncDisposable {
  readonly id: string;
  readonly #transport: Transport;
  #nextStep: number;
  #ended = false;

  /** Made by `client.begin` and `client.resume`. */
  constructor(transport: Transport, id: string, nextStep: number, ended = false) {
    this.#transport = transport;
    this.id = id;
    this.#nextStep = nextStep;
    this.#ended = ended;
  }

  /** The number of the next step; 0 when ended or frozen. */
  get nextStep(): number {
    return this.#nextStep;
  }

  /** Runs one tool call on the server. A rollback is an answer, not an exception. */
  async step(tool: string, args: JsonObject, options: StepOptions = {}): Promise<StepOutcome> {
    const response = await this.#transport.call(
      "step",
      {
        transactionId: this.id,
        stepId: options.stepId ?? this.#nextStep,
        toolName: tool,
        argumentsJson: JSON.stringify(args),
        rawContext: options.rawContext ?? "",
        requestId: requestId(options.requestId),
      },
      { signal: options.signal },
    );
    return this.#take(response);
  }

  /** A step that succeeded turned out wrong: decided like a failure of that step (R9a). */
  async reportFailure(
    step: number,
    report: { readonly key?: string | null; readonly text: string },
    options: CallSignal & { readonly requestId?: string } = {},
  ): Promise<StepOutcome> {
    const { outcome } = await this.#transport.call(
      "reportFailure",
      {
        transactionId: this.id,
        stepId: step,
        key: report.key ?? "",
        text: report.text,
        requestId: requestId(options.requestId),
      },
      { signal: options.signal },
    );
    return this.#take(required(outcome));
  }

  /** Rewinds to before `toStep` (>= 1) and stays open. */
  async rollback(
    toStep: number,
    options: CallSignal & { readonly requestId?: string; readonly reason?: string } = {},
  ): Promise<RollbackOutcome> {
    if (!Number.isSafeInteger(toStep) || toStep < 1) {
      throw new AgentTxError("INVALID_ARGUMENT", "`toStep` must be 1 or more; use abort() to end.");
    }
    return this.#rollback(toStep, options);
  }

  /** Ends the transaction: everything compensated, staged effects dropped, state discarded. */
  async abort(reason = "", options: CallSignal = {}): Promise<RollbackOutcome> {
    return this.#rollback(undefined, { ...options, reason });
  }

  /** Publishes the state. Throws WRITE_CONFLICT when another transaction was first. */
  async commit(options: CallSignal & { readonly requestId?: string } = {}): Promise<CommitOutcome> {
    const request = { transactionId: this.id, requestId: requestId(options.requestId) };
    const outcome = commitFromWire(
      await this.#transport.call("commit", request, { signal: options.signal }),
    );
    this.#nextStep = 0;
    this.#ended = true;
    return outcome;
  }

  /** What the transaction is now; pages of the context are joined. */
  async view(options: CallSignal = {}): Promise<TransactionView> {
    return fetchView(this.#transport, this.id, options);
  }

  /** Aborts a transaction that has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) await this.abort("disposed");
  }

  async #rollback(
    toStep: number | undefined,
    options: CallSignal & { readonly requestId?: string; readonly reason?: string },
  ): Promise<RollbackOutcome> {
    const request = {
      transactionId: this.id,
      toStep,
      reason: options.reason ?? "",
      requestId: requestId(options.requestId),
    };
    const outcome = rollbackFromWire(
      await this.#transport.call("rollback", request, { signal: options.signal }),
    );
    this.#nextStep = outcome.nextStep;
    if (toStep === undefined) this.#ended = true;
    return outcome;
  }

  #take(response: steps.ExecuteStepResponse): StepOutcome {
    const outcome = outcomeFromWire(response);
    this.#nextStep = outcome.nextStep;
    if (outcome.status === "FAILED" && outcome.transactionStatus === "FAILED") this.#ended = true;
    return outcome;
  }
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

export function required(
  outcome: steps.ExecuteStepResponse | undefined,
): steps.ExecuteStepResponse {
  if (outcome === undefined) throw new AgentTxError("INTERNAL", "an answer without an outcome");
  return outcome;
}
