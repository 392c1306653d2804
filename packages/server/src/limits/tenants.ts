// Owns what one tenant may hold at a time: request rate, open streams, open transactions.
// A tenant at its limit is refused with RESOURCE_EXHAUSTED; others do not notice.

import { AgentTxError } from "@agenttx/model";
import { RateLimit } from "./rate.js";

export interface TenantLimits {
  readonly requestsPerSecond: number;
  readonly sessionsMax: number;
  readonly openTransactionsMax: number;
}

interface Usage {
  readonly rate: RateLimit;
  streams: number;
  openTransactions: number;
  /** Begins under way. */
  beginning: number;
}

export class Tenants {
  readonly #limits: TenantLimits;
  readonly #usage = new Map<string, Usage>();

  constructor(limits: TenantLimits) {
    this.#limits = limits;
  }

  /** Throws RESOURCE_EXHAUSTED with `retryAfterMs`. */
  request(tenant: string): void {
    const wait = this.#of(tenant).rate.take(performance.now());
    if (wait > 0) {
      throw new AgentTxError("RESOURCE_EXHAUSTED", `Too many requests; try again in ${wait} ms.`, {
        details: { limit: "requestsPerSecond", retryAfterMs: wait },
      });
    }
  }

  /** Takes a stream; the returned function gives it back, once. */
  openStream(tenant: string): () => void {
    const usage = this.#of(tenant);
    if (usage.streams >= this.#limits.sessionsMax) {
      throw exhausted("sessionsMax", this.#limits.sessionsMax, "open streams");
    }
    usage.streams += 1;
    let open = true;
    return () => {
      if (open) usage.streams -= 1;
      open = false;
    };
  }

  /**
   * Makes room for a transaction that is about to begin; the returned function gives the room
   * back. What really began is counted by `began`: a repeated begin begins nothing.
   */
  reserveTransaction(tenant: string): () => void {
    const usage = this.#of(tenant);
    if (usage.openTransactions + usage.beginning >= this.#limits.openTransactionsMax) {
      throw exhausted("openTransactionsMax", this.#limits.openTransactionsMax, "open transactions");
    }
    usage.beginning += 1;
    return () => {
      usage.beginning -= 1;
    };
  }

  /** A transaction is open: begun now, or found open at the start. */
  began(tenant: string): void {
    this.#of(tenant).openTransactions += 1;
  }

  ended(tenant: string): void {
    const usage = this.#of(tenant);
    usage.openTransactions = Math.max(0, usage.openTransactions - 1);
  }

  #of(tenant: string): Usage {
    let usage = this.#usage.get(tenant);
    if (usage === undefined) {
      const rate = new RateLimit(this.#limits.requestsPerSecond, performance.now());
      usage = { rate, streams: 0, openTransactions: 0, beginning: 0 };
      this.#usage.set(tenant, usage);
    }
    return usage;
  }
}

function exhausted(limit: string, most: number, what: string): AgentTxError {
  return new AgentTxError(
    "RESOURCE_EXHAUSTED",
    `This tenant has ${most} ${what}, the most allowed.`,
    {
      details: { limit, most },
    },
  );
}
