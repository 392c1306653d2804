// Owns driving a load: as fast as the callers can (closed loop), or at a rate that does not wait for
// the answers (open loop).
//
//   I1 In the open loop a call is due at a time that the rate alone fixes, and its latency counts from
//      then: a server that stalls does not make the load smaller.
//   I2 Every call that became due is made; a run ends when all of them are answered.

/** How often due calls are handed to waiting callers, in milliseconds. */
const TICK_MS = 1;

/**
 * Runs `callers` for `seconds`, each one call after the other, and answers calls per second.
 * @param {readonly (() => Promise<unknown>)[]} callers
 */
export async function closedLoop(callers, seconds) {
  const started = performance.now();
  const end = started + seconds * 1_000;
  let calls = 0;
  const run = async (call) => {
    while (performance.now() < end) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(callers.map(run));
  return calls / ((performance.now() - started) / 1_000);
}

/**
 * Runs `rate * seconds` calls, each as soon as it is due and a caller is free. Answers the latencies
 * in microseconds, and how long it took in seconds.
 * @param {readonly (() => Promise<unknown>)[]} callers
 */
export async function openLoop(callers, { rate, seconds }) {
  const total = Math.max(Math.round(rate * seconds), 1);
  const started = performance.now();
  const dueAt = (index) => started + (index / rate) * 1_000;
  const latencies = new Float64Array(total);
  const waiting = [];
  let next = 0;
  const tick = setInterval(() => {
    const due = Math.min(Math.floor(((performance.now() - started) / 1_000) * rate) + 1, total);
    const woken = next >= total ? waiting.length : Math.max(due - next, 0);
    for (const wake of waiting.splice(0, woken)) wake();
  }, TICK_MS);
  const run = async (call) => {
    while (next < total) {
      if (dueAt(next) > performance.now()) {
        await new Promise((resolve) => waiting.push(resolve));
        continue;
      }
      const index = next;
      next += 1;
      await call();
      latencies[index] = (performance.now() - dueAt(index)) * 1_000;
    }
  };
  try {
    await Promise.all(callers.map(run));
  } finally {
    clearInterval(tick);
  }
  return { latencies, seconds: (performance.now() - started) / 1_000 };
}
