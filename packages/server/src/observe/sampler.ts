// Owns the gauges that are looked up rather than counted: every few seconds, one query each.

import type { ServiceDeps } from "../service/deps.js";

const EVERY_MS = 5_000;
/** The queue is counted up to here; a longer one shows as this many. */
const UNRESOLVED_COUNTED_MAX = 1_000;

/** Starts sampling; the returned function stops it and waits for a sample under way. */
export function startSampler(deps: ServiceDeps): () => Promise<void> {
  let running: Promise<void> | null = null;
  const sample = () => {
    running ??= sampleOnce(deps)
      .catch((error: unknown) => deps.log.warn({ err: error }, "gauges could not be sampled"))
      .finally(() => {
        running = null;
      });
  };
  sample();
  const timer = setInterval(sample, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function sampleOnce({ store, engine, metrics, work }: ServiceDeps): Promise<void> {
  const stats = await store.stats();
  metrics.transactionsOpen.set(stats.openTransactions);
  metrics.storageBytes.set(stats.diskBytes);
  metrics.storePoisoned.set(stats.poisoned === null ? 0 : 1);
  metrics.workWaiting.set(work.waiting().count);
  const unresolved = await engine.unresolved({ limit: UNRESOLVED_COUNTED_MAX });
  metrics.unresolved.set(unresolved.length);
  const oldest = unresolved[0]?.createdAtMs;
  metrics.oldestUnresolved.set(oldest === undefined ? 0 : (Date.now() - oldest) / 1_000);
}
