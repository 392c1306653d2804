// Owns the gauges that are looked up rather than counted: every few seconds, one query each.

import type { ServiceDeps } from "../service/deps.js";

const EVERY_MS = 5_000;
/** The queue is counted up to here; a longer one shows as this many. */
const UNRESOLVED_COUNTED_MAX = 1_000;

export interface Sampler {
  /** Why the store refuses writes, as last seen; null when it does not. */
  readonly poisoned: () => string | null;
  /** Stops, and waits for a sample under way. */
  stop(): Promise<void>;
}

export function startSampler(deps: ServiceDeps): Sampler {
  let running: Promise<void> | null = null;
  let poisoned: string | null = null;
  const sample = () => {
    running ??= sampleOnce(deps)
      .then((seen) => {
        poisoned = seen;
      })
      .catch((error: unknown) => deps.log.warn({ err: error }, "gauges could not be sampled"))
      .finally(() => {
        running = null;
      });
  };
  sample();
  const timer = setInterval(sample, EVERY_MS);
  timer.unref();
  const stop = async () => {
    clearInterval(timer);
    await running;
  };
  return { poisoned: () => poisoned, stop };
}

async function sampleOnce(deps: ServiceDeps): Promise<string | null> {
  const { store, engine, recovery, metrics, work } = deps;
  const stats = await store.stats();
  metrics.transactionsOpen.set(stats.openTransactions);
  metrics.storageBytes.set(stats.diskBytes);
  metrics.storePoisoned.set(stats.poisoned === null ? 0 : 1);
  const waiting = work.waiting();
  metrics.workWaiting.set(waiting.count);
  metrics.oldestWork.set(waiting.oldestMs / 1_000);
  const unresolved = await engine.unresolved({ limit: UNRESOLVED_COUNTED_MAX });
  metrics.unresolved.set(unresolved.length);
  const oldest = unresolved[0]?.createdAtMs;
  // A clock that went back makes nothing younger than new.
  const ageMs = oldest === undefined ? 0 : Math.max(Date.now() - oldest, 0);
  metrics.oldestUnresolved.set(ageMs / 1_000);
  const { states } = await recovery.attention();
  for (const [state, { count, oldestMs }] of Object.entries(states)) {
    metrics.workflowsInRecovery.set({ state }, count);
    metrics.oldestInRecovery.set({ state }, oldestMs / 1_000);
  }
  return stats.poisoned;
}
