// Owns the durable workload: 64 transactions that step at the same time with an fsync before every
// answer, against the same work without, in turns in the same process.
import { strictEqual } from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DURABILITY, DURABILITY_SYNC, engineOn, openAgentTxStore } from "../drivers/agenttx.mjs";
import { openRawRocksdb, packPut } from "../drivers/raw-rocksdb.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { median, pooled, ratio, round } from "../harness/samples.mjs";
import { interleave } from "../harness/timing.mjs";

export const title = "Durable: an fsync before every answer";
export const unit = "steps/s";
export const drivers = {
  "AgentTx, syncWrites": DURABILITY_SYNC,
  "AgentTx, default": DURABILITY,
  "RocksDB put with sync": "fsync before every answer",
};

export const trials = { load: loadTrial };

export async function run(bench) {
  const results = await bench.trials("load", bench.pick({ quick: 1, normal: 2, long: 4 }), {
    concurrent: 64,
    stepsEach: bench.pick({ quick: 5, normal: 40, long: 100 }),
    rounds: bench.pick({ quick: 1, normal: 6, long: 20 }),
  });
  const stepsPerSync = median(results.map(({ stepsPerSync: list }) => median(list)));
  return {
    ratios: {
      ofUnsynced: ratio(results, "synced", "unsynced"),
      stepsPerSync: round(stepsPerSync),
      ofOneSyncEach: ratio(results, "synced", "rawPutSynced"),
    },
    figures: { "64 transactions": pooled(results) },
  };
}

async function loadTrial({ directory, seed, concurrent, stepsEach, rounds }) {
  const text = textOf(256, seeded(seed));
  const open = (name, syncWrites) => {
    mkdirSync(join(directory, name));
    return openAgentTxStore(join(directory, name), { syncWrites });
  };
  const synced = await open("synced", true);
  const unsynced = await open("unsynced", false);
  const raw = openRawRocksdb(directory, { syncWrites: true });
  const engines = new Map([synced, unsynced].map((store) => [store, engineOn(store)]));
  const stepsPerSync = [];
  const load = { concurrent, stepsEach, text };
  const samples = await interleave(
    {
      synced: async () => {
        const before = await synced.stats();
        const rate = await stepAll(engines.get(synced), load, async () => {
          const syncs = (await synced.stats()).walSyncs - before.walSyncs;
          stepsPerSync.push((concurrent * stepsEach) / syncs);
        });
        return rate;
      },
      unsynced: () => stepAll(engines.get(unsynced), load, async () => {}),
      rawPutSynced: () => Promise.resolve(rawRate(raw, text)),
    },
    { rounds, warmUp: 1 },
  );
  raw.close();
  for (const [store, engine] of engines) {
    await engine.close();
    await store.close();
  }
  return { ...samples, stepsPerSync: stepsPerSync.slice(1) };
}

/** Steps per second while `concurrent` transactions step; begin and abort are not counted. */
async function stepAll(engine, { concurrent, stepsEach, text }, afterSteps) {
  const open = await Promise.all(Array.from({ length: concurrent }, () => engine.begin()));
  const started = performance.now();
  await Promise.all(open.map((tx, index) => stepOne(tx, stepsEach, `key-${index}`, text)));
  const seconds = (performance.now() - started) / 1_000;
  await afterSteps();
  for (const tx of open) strictEqual(tx.nextStep, stepsEach + 1);
  await Promise.all(open.map((tx) => tx.abort()));
  return (concurrent * stepsEach) / seconds;
}

async function stepOne(tx, count, key, value) {
  for (let index = 0; index < count; index += 1) {
    const outcome = await tx.step("kv.put", { key: `${key}-${index}`, value });
    if (outcome.status !== "SUCCESS") throw new Error(`A step ended with ${outcome.status}`);
  }
}

/** One put, one fsync: what durability costs without group commit. */
function rawRate(raw, text) {
  const value = Buffer.from(text);
  const count = 50;
  const started = performance.now();
  for (let index = 0; index < count; index += 1) {
    const { bytes, keyLength, valueLength } = packPut(Buffer.from(`key-${index}`), value);
    raw.put(bytes, keyLength, valueLength);
  }
  return count / ((performance.now() - started) / 1_000);
}
