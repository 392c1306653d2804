// Owns what goes on without a caller: retries of unresolved effects and the delivery of outboxes,
// after restarts as well (E7, E8, C8).
//
//   B1 Work is found on disk only: the list of open effects and the outbox rows.
//   B2 Retries and deliveries have a lane each, so that owners who do not answer hold up neither
//      other transactions for long nor any delivery. A failure of one stops no other.
//   B3 Work that stays due although it was tried is tried again at the next poll, never in a loop.
//   B4 Timers do not keep the process alive; `close` ends waiting at once.
//   B5 A process tries what is open once when it starts, however long its predecessor meant to wait:
//      the start may be the remedy. What fails again waits on as before; a try that was cut off (its
//      transaction changed hands, a write failed) is made again at the next look.

import type { EffectName } from "./contract.js";
import { type EffectsCore, transactionKey } from "./core.js";
import { Lane } from "./lane.js";
import { type OpenEntry, openEntries } from "./open-list.js";
import { deliverRows, isDue } from "./outbox.js";
import { outboxRows } from "./outbox-row.js";
import { retryOpen } from "./retry-open.js";
import { hasNothingOpen } from "./settled-check.js";
import { unparkReturned } from "./unpark.js";

type Target = Omit<EffectName, "seq">;
type OnSettled = (transaction: string, namespace: string) => Promise<void>;

interface Retry {
  readonly target: Target;
  readonly due: OpenEntry[];
}

export class Background {
  readonly #core: EffectsCore;
  readonly #retries: Lane<Retry>;
  readonly #deliveries: Lane<Target>;
  #onSettled: OnSettled | null = null;
  /** What the driver could not be told yet. */
  readonly #toTell = new Map<string, Target>();
  #cancel: (() => void) | null = null;
  #scan: Promise<void> | null = null;
  /** What the next look does: start what is due, or only find out when something is. */
  #wanted: "start" | "count" | null = null;
  /** Transactions whose try was cut off; null: this process has tried none yet (B5). */
  #untried: Set<string> | null = null;

  constructor(core: EffectsCore) {
    this.#core = core;
    const { concurrency } = core.limits;
    const count = (): void => this.#want("count");
    this.#retries = new Lane(concurrency, (retry) => this.#retry(retry), count);
    this.#deliveries = new Lane(concurrency, (target) => this.#deliver(target), count);
  }

  /** Starts to look for work; the first look begins at once. The last `onSettled` counts. */
  start(onSettled: OnSettled): void {
    this.#onSettled = onSettled;
    this.wake();
  }

  /** A look soon: something became due. */
  wake(): void {
    this.#want("start");
  }

  /** Tells the driver when the transaction has nothing open; a failure is repeated later. */
  async tellIfSettled(target: Target): Promise<void> {
    if (this.#onSettled === null || !(await hasNothingOpen(this.#core, target))) return;
    await this.#tell(transactionKey(target), target);
  }

  /** REQUIRES: `closing` has aborted. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.#scan;
    await Promise.all([this.#retries.close(), this.#deliveries.close()]);
  }

  #want(what: "start" | "count"): void {
    if (this.#onSettled === null || this.#core.closing.aborted) return;
    if (this.#wanted !== "start") this.#wanted = what;
    this.#scan ??= this.#look().finally(() => {
      this.#scan = null;
    });
  }

  async #look(): Promise<void> {
    const { clock, closing, limits } = this.#core;
    this.#cancel?.();
    this.#cancel = null;
    let waitMs = limits.pollMs;
    while (this.#wanted !== null && !closing.aborted) {
      const start = this.#wanted === "start";
      this.#wanted = null;
      waitMs = await this.#collectAll(start);
      await this.#tellSettled();
    }
    if (closing.aborted) return;
    if (this.#toTell.size > 0) waitMs = Math.min(waitMs, limits.backoffBaseMs);
    this.#cancel = clock.schedule(Math.min(Math.max(waitMs, 1), limits.pollMs), () => this.wake());
  }

  /** Milliseconds until something else is due. */
  async #collectAll(start: boolean): Promise<number> {
    const core = this.#core;
    try {
      let nextAtMs = Number.POSITIVE_INFINITY;
      for (const namespace of await core.namespaces.list()) {
        if (core.closing.aborted) break;
        nextAtMs = Math.min(nextAtMs, await this.#collectOpen(namespace, start));
        nextAtMs = Math.min(nextAtMs, await this.#collectOutbox(namespace, start));
      }
      if (start) this.#untried ??= new Set();
      return nextAtMs - core.clock.now();
    } catch {
      // Storage refused a read: the next look tries again.
      return core.limits.pollMs;
    }
  }

  async #collectOpen(namespace: string, start: boolean): Promise<number> {
    const core = this.#core;
    let nextAtMs = Number.POSITIVE_INFINITY;
    const retries = new Map<string, Retry>();
    const untried = this.#untried;
    for await (const entry of openEntries(core.store, namespace)) {
      const back =
        entry.waitsFor === "tool" && core.tools.find(entry.tool, entry.namespace) !== null;
      const target = { transaction: entry.transaction, namespace };
      const key = transactionKey(target);
      const fresh = untried === null || untried.has(key);
      if (back || (entry.nextAtMs !== null && (fresh || isDue(core, entry.nextAtMs)))) {
        const retry = retries.get(key) ?? { target, due: [] };
        retry.due.push(entry);
        retries.set(key, retry);
      } else if (entry.nextAtMs !== null) nextAtMs = Math.min(nextAtMs, entry.nextAtMs);
    }
    if (!start) return nextAtMs;
    for (const [key, retry] of retries) this.#retries.add(key, retry);
    return nextAtMs;
  }

  async #collectOutbox(namespace: string, start: boolean): Promise<number> {
    const core = this.#core;
    let nextAtMs = Number.POSITIVE_INFINITY;
    for await (const row of outboxRows(core.store, { namespace, transaction: null })) {
      if (row.parked) continue;
      if (isDue(core, row.nextAtMs)) {
        const target = { transaction: row.transaction, namespace };
        if (start) this.#deliveries.add(transactionKey(target), target);
      } else nextAtMs = Math.min(nextAtMs, row.nextAtMs);
    }
    return nextAtMs;
  }

  /** Never rejects: what fails is found on disk again (B1, B2). */
  async #retry({ target, due }: Retry): Promise<void> {
    const core = this.#core;
    try {
      await core.exclusive.runIfFree(transactionKey(target), async () => {
        if (await unparkReturned(core, target))
          this.#deliveries.add(transactionKey(target), target);
        await retryOpen(core, target, due);
      });
      this.#untried?.delete(transactionKey(target));
      // Outside the lock: the driver may settle more of this transaction in answer.
      await this.tellIfSettled(target);
    } catch {
      // Stopped, fenced, or a storage error.
      this.#untried?.add(transactionKey(target));
    }
  }

  /** Never rejects, as above. */
  async #deliver(target: Target): Promise<void> {
    const core = this.#core;
    const progress = { delivered: 0, pending: 0, errors: new Map<string, string>() };
    const untilMs = core.clock.monotonic();
    try {
      await core.exclusive.runIfFree(transactionKey(target), () =>
        deliverRows(core, target, { tries: 1, untilMs, stop: core.closing, progress }),
      );
    } catch {
      // Stopped, or a storage error.
    }
  }

  async #tellSettled(): Promise<void> {
    for (const [key, target] of [...this.#toTell]) {
      if (this.#core.closing.aborted) return;
      // Another look may have taken it meanwhile.
      if (this.#toTell.delete(key)) await this.#tell(key, target);
    }
  }

  /** Each lane tells its own: one that takes long holds up no other. */
  async #tell(key: string, target: Target): Promise<void> {
    try {
      await this.#onSettled?.(target.transaction, target.namespace);
    } catch {
      // The next look tells it again.
      this.#toTell.set(key, target);
    }
  }
}
