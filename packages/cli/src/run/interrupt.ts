// Owns Ctrl-C and SIGTERM during a run. The first one stops before the next step, and the run is
// taken back; the second one ends the process at once, and the next run recovers.

import { EXIT } from "../exit-codes.js";

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Exit code of the signal that came, or null. */
  readonly exitCode: () => number | null;
  /** Gives the signals back to the process. */
  readonly release: () => void;
}

/** `onFirst` is called once, with what will happen now. */
export function watchInterrupts(onFirst: (signal: "SIGINT" | "SIGTERM") => void): Interrupt {
  const controller = new AbortController();
  let exitCode: number | null = null;
  const handle = (signal: "SIGINT" | "SIGTERM") => {
    if (exitCode !== null) process.exit(exitCode);
    exitCode = signal === "SIGINT" ? EXIT.INTERRUPTED : EXIT.TERMINATED;
    onFirst(signal);
    controller.abort();
  };
  process.on("SIGINT", handle).on("SIGTERM", handle);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    release: () => {
      process.off("SIGINT", handle).off("SIGTERM", handle);
    },
  };
}
