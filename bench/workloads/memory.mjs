// Owns the memory workload: what one more open transaction that nobody uses keeps in memory. As many
// are opened first, so that code, buffers and caches have their size before counting starts.
// Resident memory is the figure, after garbage collection; the store's write buffers are small here,
// so that what it wrote does not count as what it keeps.
import { strictEqual } from "node:assert/strict";
import { engineOn, DURABILITY as OURS, openAgentTxStore } from "../drivers/agenttx.mjs";
import { median, round } from "../harness/samples.mjs";

export const title = "Memory: idle open transactions";
export const unit = "bytes per transaction";
export const drivers = { "AgentTx, engine and store": OURS };

export const trials = { idle: idleTrial };

export async function run(bench) {
  const open = bench.pick({ quick: 2_000, normal: 10_000 });
  const results = await bench.trials("idle", bench.pick({ quick: 1, normal: 3, long: 5 }), {
    open,
  });
  const of = (name) => median(results.map((trial) => trial[name]));
  const figures = Object.fromEntries(Object.keys(results[0]).map((name) => [name, of(name)]));
  return {
    ratios: { kibPerIdle: round(figures.resident / 1_024) },
    figures: {
      [`${open} open transactions, one step each`]: Object.fromEntries(
        Object.entries(figures).map(([name, bytes]) => [name, { bytes: Math.round(bytes) }]),
      ),
    },
  };
}

async function idleTrial({ directory, open }) {
  const store = await openAgentTxStore(directory, {
    writeBufferBytes: 256 * 1024,
    blockCacheBytes: 1024 * 1024,
  });
  const engine = engineOn(store);
  const early = await openMany(engine, open);
  await settled();
  const before = process.memoryUsage();
  const kept = await openMany(engine, open);
  await settled();
  const after = process.memoryUsage();
  strictEqual((await store.stats()).openTransactions, open + early.length);
  // Still usable, each at its next step.
  const outcome = await kept[0].step("kv.put", { key: "again", value: 1 });
  strictEqual(outcome.step, 2);
  const each = (name) => (after[name] - before[name]) / open;
  await engine.close();
  await store.close();
  return {
    resident: each("rss"),
    "JavaScript heap": each("heapUsed"),
    "external to the heap": each("external"),
  };
}

async function openMany(engine, count) {
  const transactions = [];
  for (let index = 0; index < count; index += 1) {
    const tx = await engine.begin({ agentId: "bench" });
    await tx.step("kv.put", { key: `key-${index}`, value: index });
    transactions.push(tx);
  }
  return transactions;
}

/** Garbage gone and background work at rest. */
async function settled() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
