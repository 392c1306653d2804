// Owns the system implementations of the ports: wall clock, timers, UUIDv7 ids.
import { uuidv7 } from "uuidv7";
import type { Clock, IdSource } from "./ports.js";

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, run) {
    // setTimeout fires at once above 2^31-1 ms: a longer wait is cut, and its owner waits again.
    const timer = setTimeout(run, Math.min(ms, 0x7fff_ffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** UUIDv7: sortable by time, made by the engine and never chosen by clients (P8). */
export const systemIds: IdSource = { transactionId: () => uuidv7() };
