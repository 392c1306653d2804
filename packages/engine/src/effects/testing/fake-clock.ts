// Owns the clock of the effects tests: time moves only when a test says so, or when everything
// waits for a timer.

import type { Clock } from "../../ports.js";

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  schedule(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves on by `ms`, running what becomes due in order; promises settle in between. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settled();
    for (let next = this.#next(); next !== null && next.atMs <= untilMs; next = this.#next()) {
      await this.#fire(next);
    }
    this.#nowMs = untilMs;
  }

  /** Waits for `work`, moving to the next timer whenever nothing else goes on. */
  async finish<Result>(work: Promise<Result>): Promise<Result> {
    let done = false;
    const watched = work.finally(() => {
      done = true;
    });
    watched.catch(() => undefined);
    for (let rounds = 0; rounds < 10_000; rounds += 1) {
      await settled();
      if (done) return watched;
      const next = this.#next();
      if (next === null) throw new Error("The work waits for something that is no timer.");
      await this.#fire(next);
    }
    throw new Error("The work did not end within 10,000 timers.");
  }

  #next(): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) {
      if (first === null || timer.atMs < first.atMs) first = timer;
    }
    return first;
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.delete(timer);
    this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    timer.run();
    await settled();
  }
}

/** Every promise that can settle without a timer has settled: the memory store has no I/O. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
