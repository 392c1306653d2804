// Owns the rule that one operation runs in a transaction at a time (P3).
//
//   L1 A second operation never waits in a queue: it joins an equal one or is refused; only abort
//      waits, after it has told the running step to stop.
import { AgentTxError } from "@agenttx/model";
import type { StepRequest } from "./step/request.js";

export type OperationKind = "step" | "report" | "rollback" | "commit" | "abort" | "settle";

export interface Operation {
  readonly kind: OperationKind;
  readonly step: number;
  readonly requestId: string | null;
  /** What a step runs: an equal one may join. */
  readonly request: StepRequest | null;
  /** Told to stop: by abort, the caller's signal or close. */
  stop: ((reason: unknown) => void) | null;
  promise: Promise<unknown>;
}

/** One transaction's lock. */
export class OperationLock {
  #running: Operation | null = null;

  get running(): Operation | null {
    return this.#running;
  }

  /**
   * Runs `work` as the operation; `ended`, when given, is called when it has ended.
   * REQUIRES: nothing is running, looked at in the same turn. Throws INTERNAL otherwise.
   */
  run<Result>(
    fields: Pick<Operation, "kind" | "step" | "requestId"> & Partial<Pick<Operation, "request">>,
    work: (operation: Operation) => Promise<Result>,
    ended?: () => void,
  ): Promise<Result> {
    if (this.#running !== null) {
      throw new AgentTxError(
        "INTERNAL",
        "Two operations met in a transaction; nothing was changed.",
      );
    }
    const operation: Operation = {
      kind: fields.kind,
      step: fields.step,
      requestId: fields.requestId,
      request: fields.request ?? null,
      stop: null,
      promise: IDLE,
    };
    this.#running = operation;
    const promise = this.#finish(work(operation), ended);
    operation.promise = promise;
    return promise;
  }

  /** Resolves when nothing is running, whatever became of it. */
  async idle(): Promise<void> {
    while (this.#running !== null) {
      try {
        await this.#running.promise;
      } catch {
        // Its own caller gets the error; here only its end matters.
      }
    }
  }

  async #finish<Result>(work: Promise<Result>, ended?: () => void): Promise<Result> {
    try {
      return await work;
    } finally {
      this.#running = null;
      ended?.();
    }
  }
}

const IDLE = Promise.resolve();

/** The refusal of an operation that can neither join nor wait (L1). */
export function inProgress(running: Operation): AgentTxError {
  const what = running.kind === "step" ? `step ${running.step}` : `a ${running.kind}`;
  return new AgentTxError(
    "STEP_IN_PROGRESS",
    `The transaction is busy with ${what}; this call changed nothing. Repeat it when that is done.`,
    { details: { running: running.kind, step: running.step } },
  );
}
