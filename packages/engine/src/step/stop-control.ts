// Owns how a running tool is told to stop, and how long it is waited for.
//
//   I1 No timer and no AbortController is made for a tool that answers at once.
//   I2 After a stop or deadline the tool's answer is ignored, whenever it comes (E6).
import type { Clock } from "../ports.js";

/** Why a call ended before the tool answered. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  readonly why: "deadline" | "stopped";

  constructor(why: "deadline" | "stopped", options?: ErrorOptions) {
    super(why === "deadline" ? "The deadline passed" : "The call was stopped", options);
    this.why = why;
  }
}

export class StopControl {
  #controller: AbortController | null = null;
  #stopped: { readonly reason: unknown } | null = null;
  #waiter: ((error: StoppedError) => void) | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#stopped !== null) this.#controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  get stopped(): boolean {
    return this.#stopped !== null;
  }

  /** Why it was told to stop; null when it was not. */
  get reason(): unknown {
    return this.#stopped?.reason ?? null;
  }

  stop(reason: unknown): void {
    if (this.#stopped !== null) return;
    this.#stopped = { reason };
    this.#controller?.abort(reason);
    this.#waiter?.(new StoppedError("stopped", { cause: reason }));
  }

  /** The tool's answer, or StoppedError at the deadline or when told to stop. */
  wait<Result>(work: PromiseLike<Result>, clock: Clock, deadlineMs: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      let cancelTimer: (() => void) | null = null;
      let settled = false;
      const settle = (act: () => void): void => {
        if (settled) return;
        settled = true;
        cancelTimer?.();
        this.#waiter = null;
        act();
      };
      const giveUp = (error: StoppedError): void => settle(() => reject(error));
      work.then(
        (result) => settle(() => resolve(result)),
        (error: unknown) => settle(() => reject(error)),
      );
      this.#waiter = giveUp;
      if (this.#stopped !== null) giveUp(new StoppedError("stopped"));
      afterMicrotasks(4, () => {
        if (settled) return;
        cancelTimer = clock.schedule(deadlineMs, () => {
          const error = new StoppedError("deadline");
          this.#controller?.abort(error);
          giveUp(error);
        });
      });
    });
  }
}

/** Most tools answer within a few microtasks: those never need a timer (I1). */
function afterMicrotasks(count: number, run: () => void): void {
  if (count === 0) run();
  else queueMicrotask(() => afterMicrotasks(count - 1, run));
}
