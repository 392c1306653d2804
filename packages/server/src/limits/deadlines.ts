// Owns the deadlines of calls: one coarse timer for all of them. Time is monotonic, so a clock that
// jumps changes nothing. A call past its deadline is answered; what it does goes on (P5).

import { AgentTxError } from "@agenttx/model";

const LOOK_EVERY_MS = 20;

export interface Deadline {
  /** Monotonic milliseconds (`performance.now()`). */
  readonly expiresAt: number;
  expire(): void;
}

export class Deadlines {
  readonly #open = new Set<Deadline>();
  #timer: NodeJS.Timeout | null = null;

  add(deadline: Deadline): void {
    this.#open.add(deadline);
    this.#timer ??= this.#start();
  }

  delete(deadline: Deadline): void {
    this.#open.delete(deadline);
  }

  /** Rejects with UNAVAILABLE after `ms`; 0 = never. `work` goes on all the same. */
  within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
    if (ms === 0) return work;
    return new Promise((resolve, reject) => {
      const deadline: Deadline = {
        expiresAt: performance.now() + ms,
        expire: () => reject(deadlineExceeded(ms)),
      };
      this.add(deadline);
      work.then(resolve, reject).finally(() => this.delete(deadline));
    });
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#open.clear();
  }

  #start(): NodeJS.Timeout {
    const timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    timer.unref();
    return timer;
  }

  #look(): void {
    if (this.#open.size === 0) {
      this.close();
      return;
    }
    const now = performance.now();
    for (const deadline of this.#open) {
      if (now < deadline.expiresAt) continue;
      this.#open.delete(deadline);
      deadline.expire();
    }
  }
}

export function deadlineExceeded(ms: number): AgentTxError {
  return new AgentTxError(
    "UNAVAILABLE",
    `No answer within ${ms} ms. The call goes on; repeat it with the same request id to learn its answer.`,
    { details: { deadlineMs: ms } },
  );
}
