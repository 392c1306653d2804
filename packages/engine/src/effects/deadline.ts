// Owns waiting: sleeps and deadlines on the clock port, and how both are stopped.

import type { Clock } from "../ports.js";
import { readableThrown } from "../thrown.js";

/** Thrown when `close` ends background work; what is on disk says where to go on. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  constructor() {
    super("The engine is closing; the work goes on at the next start.");
  }
}

/** Resolves after `ms`. Rejects with Stopped as soon as `stop` aborts. */
export function sleep(clock: Clock, ms: number, stop: AbortSignal | null = null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stop?.aborted) {
      reject(new Stopped());
      return;
    }
    const onStop = (): void => {
      cancel();
      reject(new Stopped());
    };
    const cancel = clock.schedule(ms, () => {
      stop?.removeEventListener("abort", onStop);
      resolve();
    });
    stop?.addEventListener("abort", onStop, { once: true });
  });
}

export type Raced<Value> =
  | { readonly kind: "returned"; readonly value: Value }
  | { readonly kind: "threw"; readonly error: unknown }
  /** No answer in time, or told to stop. `late` settles when the call does, if ever. */
  | {
      readonly kind: "stopped";
      readonly why: "deadline" | "aborted";
      readonly late: Promise<Value>;
    };

/** Runs with a signal that aborts after `ms` or with `outer`; never waits longer than that. */
export function withDeadline<Value>(
  clock: Clock,
  limit: { readonly ms: number; readonly outer: AbortSignal | null },
  run: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Raced<Value>> {
  const controller = new AbortController();
  const { outer } = limit;
  return new Promise((resolve) => {
    const work = invoke(() => run(controller.signal));
    const finish = (raced: Raced<Value>): void => {
      cancel();
      outer?.removeEventListener("abort", onOuter);
      resolve(raced);
    };
    const stop = (why: "deadline" | "aborted", reason: unknown): void => {
      finish({ kind: "stopped", why, late: work });
      controller.abort(reason);
    };
    const onOuter = (): void => stop("aborted", outer?.reason);
    const cancel = clock.schedule(limit.ms, () =>
      stop("deadline", new DOMException("The deadline has passed.", "TimeoutError")),
    );
    work.then(
      (value) => finish({ kind: "returned", value }),
      (error: unknown) => finish({ kind: "threw", error: readableThrown(error) }),
    );
    if (outer?.aborted) onOuter();
    else outer?.addEventListener("abort", onOuter, { once: true });
  });
}

/** A synchronous throw becomes a rejection. */
async function invoke<Value>(run: () => Value | Promise<Value>): Promise<Value> {
  return run();
}
