// Owns a clock that only moves when a test moves it. It fits the engine's Clock port.

/** Time under a test's control. */
export interface FakeClock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since the clock was made; no jump of the wall clock changes it. */
  monotonic(): number;
  /** Runs once when the clock has been advanced by `ms`; the returned function cancels it. */
  schedule(ms: number, run: () => void): () => void;
  /**
   * Moves both clocks forward and runs what is due, in order of time, each at its own time. Between
   * two timers, and after the last, promises get their turn.
   */
  advance(ms: number): Promise<void>;
  /** Advances to the next timer and runs it. False when there is none. */
  advanceToNext(): Promise<boolean>;
  /** Moves the wall clock alone, also backward, as an operator or NTP does. No timer runs. */
  jump(ms: number): void;
  /** Timers that are waiting. */
  readonly pending: number;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Starts at 2026-01-01T00:00:00Z unless told otherwise; monotonic time starts at 0. */
export function fakeClock(options: { readonly startMs?: number } = {}): FakeClock {
  let wallOffset = options.startMs ?? Date.UTC(2026, 0, 1);
  let elapsed = 0;
  let scheduled = 0;
  const timers = new Set<Timer>();

  const nextTimer = (): Timer | undefined =>
    [...timers].sort((one, other) => one.dueMs - other.dueMs || one.order - other.order)[0];
  const fire = async (timer: Timer): Promise<void> => {
    elapsed = Math.max(elapsed, timer.dueMs);
    timers.delete(timer);
    timer.run();
    await promisesSettle();
  };

  return {
    now: () => wallOffset + elapsed,
    monotonic: () => elapsed,
    schedule: (ms, run) => {
      scheduled += 1;
      const timer = { dueMs: elapsed + Math.max(0, ms), order: scheduled, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms) => {
      if (!(ms >= 0)) throw new RangeError("a clock is advanced by 0 ms or more; see jump");
      const until = elapsed + ms;
      await promisesSettle();
      for (let timer = nextTimer(); timer && timer.dueMs <= until; timer = nextTimer()) {
        await fire(timer);
      }
      elapsed = until;
      await promisesSettle();
    },
    advanceToNext: async () => {
      await promisesSettle();
      const timer = nextTimer();
      if (timer === undefined) return false;
      await fire(timer);
      return true;
    },
    jump: (ms) => {
      wallOffset += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Lets every promise that can go on without I/O go on: one turn of the event loop. */
function promisesSettle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
