// Owns the order of calls. Small calls run at once; a call that meets running work waits for it
// here, in JavaScript, and never in native code on the main thread.
//
//   Q1 Calls of one queue run one after another, in the order they were made.
//   Q2 Between `shut` and the end of `drained` nothing new starts; what was accepted finishes.
//   Q3 Errors leave as AgentTxError, thrown ones too as rejections.

import { AgentTxError } from "@agenttx/model";
import { toAgentTxError } from "./native-error.js";

type Call<T> = () => T | Promise<T>;

/** Shared by a store and its transactions. */
export class CallGate {
  readonly #running = new Set<Promise<void>>();
  #barrier: Promise<void> | null = null;
  #shut = false;

  get shut(): boolean {
    return this.#shut;
  }

  /** Runs one call that has no place in an order. */
  run<T>(call: Call<T>): Promise<T> {
    return this.runAfter(null, call, null);
  }

  /** Runs `call` after `before`; tells `queue` while it is not finished. */
  runAfter<T>(before: Promise<void> | null, call: Call<T>, queue: CallQueue | null): Promise<T> {
    if (this.#shut) return Promise.reject(closedError());
    const first = this.#afterBarrier(before);
    let answer: T | Promise<T>;
    try {
      answer = first === null ? call() : first.then(call);
    } catch (error) {
      return Promise.reject(toAgentTxError(error));
    }
    if (!(answer instanceof Promise)) return Promise.resolve(answer);
    return this.#track(answer, queue);
  }

  /** Lets running calls finish, then runs `call` alone; later calls wait for it. */
  exclusively<T>(call: Call<T>): Promise<T> {
    if (this.#shut) return Promise.reject(closedError());
    // Only calls made so far: later ones wait for this one.
    const alone = Promise.all(this.#running).then(call);
    const answer = this.#track(alone, null);
    const barrier = answer.then(ignore, ignore).then(() => {
      if (this.#barrier === barrier) this.#barrier = null;
    });
    this.#barrier = barrier;
    return answer;
  }

  /** From now on new calls are refused with STORE_CLOSED. */
  close(): void {
    this.#shut = true;
  }

  /** Resolves when every call that was accepted has an answer. */
  async drained(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #afterBarrier(before: Promise<void> | null): Promise<void> | null {
    const barrier = this.#barrier;
    if (barrier === null || before === null) return barrier ?? before;
    return barrier.then(() => before);
  }

  #track<T>(answer: Promise<T>, queue: CallQueue | null): Promise<T> {
    const translated = answer.catch((error: unknown) => {
      throw toAgentTxError(error);
    });
    const finish = () => {
      this.#running.delete(settled);
      queue?.finished(settled);
    };
    const settled: Promise<void> = translated.then(finish, finish);
    this.#running.add(settled);
    queue?.started(settled);
    return translated;
  }
}

/** The calls of one transaction handle (Q1). */
export class CallQueue {
  readonly #gate: CallGate;
  #last: Promise<void> | null = null;

  constructor(gate: CallGate) {
    this.#gate = gate;
  }

  run<T>(call: Call<T>): Promise<T> {
    return this.#gate.runAfter(this.#last, call, this);
  }

  started(call: Promise<void>): void {
    this.#last = call;
  }

  finished(call: Promise<void>): void {
    if (this.#last === call) this.#last = null;
  }
}

function ignore(): void {}

export function closedError(): AgentTxError {
  return new AgentTxError("STORE_CLOSED", "The store is closed; nothing was done.");
}
