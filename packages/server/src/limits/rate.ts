// Owns the request rate of one tenant: a token bucket that holds one second's worth.

export class RateLimit {
  readonly #perSecond: number;
  #tokens: number;
  #at: number;

  /** `perSecond` 0 = no limit. `nowMs` is monotonic. */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = Math.max(1, perSecond);
    this.#at = nowMs;
  }

  /** 0 when the request may go; else the milliseconds until one may. */
  take(nowMs: number): number {
    if (this.#perSecond === 0) return 0;
    const refill = ((nowMs - this.#at) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(Math.max(1, this.#perSecond), this.#tokens + Math.max(0, refill));
    this.#at = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1_000);
  }
}
