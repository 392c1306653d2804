// Owns that a process lives while somebody waits for the engine. The clock's timers keep nothing
// alive, which is right for background work; but a process whose caller awaits a step, a retry or a
// delivery must not end in the middle of it because nothing but such a timer is left.

const FOREVER_MS = 0x7fff_ffff;

/** Counts who waits. Cheap enough for every step. */
export class KeepAlive {
  #holders = 0;
  #timer: NodeJS.Timeout | null = null;

  hold(): void {
    this.#holders += 1;
    if (this.#holders > 1) return;
    if (this.#timer === null) this.#timer = setInterval(() => undefined, FOREVER_MS);
    else this.#timer.ref();
  }

  /** REQUIRES: one `hold` of the caller's that was not released. */
  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#timer?.unref();
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.hold();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Frees the timer. Those who still wait are not held any more. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
