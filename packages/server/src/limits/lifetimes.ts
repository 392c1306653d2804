// Owns the longest life of a transaction: past it, it is aborted and compensated. Times are counted
// in this process: one that was found open at the start begins anew.

import type { Engine } from "@agenttx/engine";
import type { Logger } from "pino";

const LOOK_EVERY_MS = 1_000;

interface Life {
  readonly namespace: string;
  readonly untilMs: number;
}

export class Lifetimes {
  readonly #engine: Engine;
  readonly #lifetimeMs: number;
  readonly #log: Logger;
  /** In the order of begin, which is the order of end. */
  readonly #lives = new Map<string, Life>();
  readonly #timer: NodeJS.Timeout | null;

  /** `lifetimeMs` 0 = no limit. */
  constructor(engine: Engine, lifetimeMs: number, log: Logger) {
    this.#engine = engine;
    this.#lifetimeMs = lifetimeMs;
    this.#log = log;
    this.#timer = lifetimeMs === 0 ? null : setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer?.unref();
  }

  began(transaction: string, namespace: string): void {
    if (this.#timer === null) return;
    this.#lives.set(transaction, { namespace, untilMs: performance.now() + this.#lifetimeMs });
  }

  ended(transaction: string): void {
    this.#lives.delete(transaction);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #look(): void {
    for (const [id, life] of this.#lives) {
      if (life.untilMs > performance.now()) return;
      this.#lives.delete(id);
      void this.#abort(id, life.namespace);
    }
  }

  async #abort(id: string, namespace: string): Promise<void> {
    try {
      // A workflow outlives its transactions, and may be waiting for a person (P4).
      const facts = await this.#engine.revisions.facts({ transaction: id, namespace });
      if (facts === null || facts.workflow !== null) return;
      const tx = await this.#engine.resume(id, { namespace });
      await tx.abort("LIFETIME_EXCEEDED");
    } catch (error) {
      this.#log.warn(
        { err: error, transaction: id },
        "a transaction past its lifetime was not aborted",
      );
    }
  }
}
