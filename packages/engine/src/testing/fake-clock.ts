// Owns a clock that only moves when a test says so.
import type { Clock } from "../ports.js";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #elapsed = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  schedule(ms: number, run: () => void): () => void {
    const timer = { at: this.#elapsed + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on and fires what is due, in order; lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#move(Math.max(due.at, this.#elapsed));
      due.run();
    }
    this.#move(end);
    await settle();
  }

  /** The wall clock alone jumps, as when somebody sets it. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #move(to: number): void {
    this.#now += to - this.#elapsed;
    this.#elapsed = to;
  }
}

/** Lets every promise that can settle without a timer do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
