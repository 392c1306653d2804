// Owns what goes on without a caller: retries of unresolved effects and the delivery of outboxes,
// after restarts as well (E7, E8, C8).
//
//   B1 Work is found on disk only: the list of open effects and the outbox rows.
//   B2 One pass at a time; a failure of one transaction is tried again in a later pass and stops no
//      other.
//   B3 Timers do not keep the process alive; `close` ends waiting at once.

import type { EffectName } from "./contract.js";
import { type EffectsCore, transactionKey } from "./core.js";
import { Stopped } from "./deadline.js";
import { forEachBounded } from "./exclusive.js";
import { type OpenEntry, openEntries } from "./open-list.js";
import { deliverRows, isDue } from "./outbox.js";
import { outboxRows } from "./outbox-row.js";
import { retryOpen } from "./retry-open.js";
import { hasNothingOpen } from "./settled-check.js";
import { unparkReturned } from "./unpark.js";

type Target = Omit<EffectName, "seq">;
type OnSettled = (transaction: string, namespace: string) => Promise<void>;

interface Work {
  readonly target: Target;
  readonly due: OpenEntry[];
  deliver: boolean;
}

export class Background {
  readonly #core: EffectsCore;
  #onSettled: OnSettled | null = null;
  readonly #toTell = new Map<string, Target>();
  #cancel: (() => void) | null = null;
  #pass: Promise<void> | null = null;
  #again = false;

  constructor(core: EffectsCore) {
    this.#core = core;
  }

  /** Starts passes; the first begins at once. Idempotent: the last `onSettled` counts. */
  start(onSettled: OnSettled): void {
    this.#onSettled = onSettled;
    this.wake();
  }

  /** A pass soon: something became due. */
  wake(): void {
    if (this.#onSettled === null || this.#core.closing.aborted) return;
    if (this.#pass !== null) {
      this.#again = true;
      return;
    }
    this.#cancel?.();
    this.#cancel = null;
    this.#pass = this.#run().finally(() => {
      this.#pass = null;
    });
  }

  /** Tells the driver when the transaction has nothing open; a failure is repeated by a pass. */
  async tellIfSettled(target: Target): Promise<void> {
    if (this.#onSettled === null || !(await hasNothingOpen(this.#core, target))) return;
    this.#toTell.set(transactionKey(target), target);
    await this.#tellSettled();
  }

  /** REQUIRES: `closing` has aborted. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.#pass;
  }

  async #run(): Promise<void> {
    const { clock, closing, limits } = this.#core;
    let nextMs = limits.pollMs;
    do {
      this.#again = false;
      nextMs = await this.#passOnce();
    } while (this.#again && !closing.aborted);
    if (closing.aborted) return;
    this.#cancel = clock.schedule(Math.min(Math.max(nextMs, 1), limits.pollMs), () => {
      this.#cancel = null;
      this.wake();
    });
  }

  /** Milliseconds until something is due. Never throws: what fails is found again on disk. */
  async #passOnce(): Promise<number> {
    const core = this.#core;
    let nextAtMs = Number.POSITIVE_INFINITY;
    try {
      const work = new Map<string, Work>();
      for (const namespace of await core.namespaces.list()) {
        nextAtMs = Math.min(nextAtMs, await this.#collect(namespace, work));
      }
      await forEachBounded([...work.values()], core.limits.concurrency, async (one) => {
        try {
          await this.#process(one);
        } catch {
          // Stopped, or a storage error: the records still say what is to be done (B1, B2).
          nextAtMs = Math.min(nextAtMs, core.clock.now() + core.limits.backoffBaseMs);
        }
      });
      await this.#tellSettled();
      if (work.size > 0) nextAtMs = Math.min(nextAtMs, await this.#nextAtMs());
    } catch {
      // Storage refused a read: the next pass tries again.
      return core.limits.pollMs;
    }
    if (this.#toTell.size > 0) return core.limits.backoffBaseMs;
    return nextAtMs - core.clock.now();
  }

  /** Adds what is due in a namespace; answers when the next of the others is. */
  async #collect(namespace: string, work: Map<string, Work>): Promise<number> {
    const core = this.#core;
    let nextAtMs = Number.POSITIVE_INFINITY;
    const workOf = (target: Target): Work => {
      const key = transactionKey(target);
      const one = work.get(key) ?? { target, due: [], deliver: false };
      work.set(key, one);
      return one;
    };
    for await (const { transaction, ...entry } of openEntries(core.store, namespace)) {
      const target = { transaction, namespace };
      const back = entry.waitsFor === "tool" && core.tools.find(entry.tool) !== null;
      if (back || (entry.nextAtMs !== null && isDue(core, entry.nextAtMs))) {
        workOf(target).due.push({ transaction, ...entry });
      } else if (entry.nextAtMs !== null) nextAtMs = Math.min(nextAtMs, entry.nextAtMs);
    }
    for await (const row of outboxRows(core.store, { namespace, transaction: null })) {
      if (row.parked) continue;
      if (isDue(core, row.nextAtMs)) workOf(row).deliver = true;
      else nextAtMs = Math.min(nextAtMs, row.nextAtMs);
    }
    return nextAtMs;
  }

  /** When the work that this pass left is due. What is due already waits for the next poll. */
  async #nextAtMs(): Promise<number> {
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const namespace of await this.#core.namespaces.list()) {
      nextAtMs = Math.min(nextAtMs, await this.#collect(namespace, new Map()));
    }
    return nextAtMs;
  }

  async #process({ target, due, deliver }: Work): Promise<void> {
    const core = this.#core;
    const name = { transaction: target.transaction, namespace: target.namespace };
    await core.exclusive.run(transactionKey(name), async () => {
      const returned = due.length > 0 && (await unparkReturned(core, name));
      if (due.length > 0) await retryOpen(core, name, due);
      if (!deliver && !returned) return;
      await deliverRows(core, name, {
        tries: 1,
        untilMs: core.clock.monotonic(),
        stop: core.closing,
        progress: { delivered: 0, pending: 0, errors: new Map() },
      });
    });
    // Outside the lock: the driver may settle more of this transaction in answer.
    if (due.length > 0) await this.tellIfSettled(name);
  }

  async #tellSettled(): Promise<void> {
    for (const [key, target] of [...this.#toTell]) {
      if (this.#core.closing.aborted) return;
      try {
        await this.#onSettled?.(target.transaction, target.namespace);
        this.#toTell.delete(key);
      } catch (error) {
        // Stays in the map: the next pass tells it again.
        if (error instanceof Stopped) return;
      }
    }
  }
}
