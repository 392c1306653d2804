// Owns the throughput workload: whole transactions of 20 steps each, at 1 to 64 at a time in one
// process, with peers that do the same 20 puts in one transaction of theirs.
import { strictEqual } from "node:assert/strict";
import { engineOn, DURABILITY as OURS, openAgentTxStore } from "../drivers/agenttx.mjs";
import { DURABILITY as LMDB, openLmdb } from "../drivers/lmdb.mjs";
import { openRawRocksdb, packPut, DURABILITY as RAW } from "../drivers/raw-rocksdb.mjs";
import { openSqlite, DURABILITY as SQLITE } from "../drivers/sqlite.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { pooled, ratio } from "../harness/samples.mjs";
import { interleave } from "../harness/timing.mjs";

export const title = "Throughput: transactions of 20 steps";
export const unit = "transactions/s";
export const drivers = {
  "AgentTx, every step durable": OURS,
  "RocksDB, 20 raw puts": RAW,
  "SQLite, 20 puts in one transaction": SQLITE,
  "LMDB, 20 puts in one transaction": LMDB,
};

const STEPS = 20;
const CONCURRENT = [1, 4, 16, 64];

export const trials = { load: loadTrial };

export async function run(bench) {
  const results = await bench.trials("load", bench.pick({ quick: 1, normal: 2, long: 4 }), {
    transactions: bench.pick({ quick: 64, normal: 192, long: 512 }),
    rounds: bench.pick({ quick: 1, normal: 8, long: 25 }),
  });
  return {
    ratios: {
      at4Of1: ratio(results, "agenttx at 4", "agenttx at 1"),
      at16Of1: ratio(results, "agenttx at 16", "agenttx at 1"),
      at64Of1: ratio(results, "agenttx at 64", "agenttx at 1"),
      ofRawPuts: ratio(results, "agenttx at 16", "rocksdb raw puts"),
      ofSqlite: ratio(results, "agenttx at 16", "sqlite"),
      ofLmdb: ratio(results, "agenttx at 16", "lmdb"),
    },
    figures: { load: pooled(results) },
  };
}

async function loadTrial({ directory, seed, transactions, rounds }) {
  const random = seeded(seed);
  const text = textOf(256, random);
  const value = Buffer.from(text);
  const store = await openAgentTxStore(directory);
  const engine = engineOn(store);
  const raw = openRawRocksdb(directory);
  const sqlite = openSqlite(directory);
  const lmdb = openLmdb(directory);
  const plans = Array.from({ length: transactions }, (_, number) =>
    Array.from({ length: STEPS }, (_, step) => `plan-${number}-${step}`),
  );
  const peer = (run) => () => Promise.resolve(peerRate(plans, value, run));
  const ours = CONCURRENT.map((concurrent) => [
    `agenttx at ${concurrent}`,
    () => ourRate(engine, plans, text, concurrent),
  ]);
  const samples = await interleave(
    {
      ...Object.fromEntries(ours),
      "rocksdb raw puts": peer((entries) => {
        for (const [key] of entries) {
          const { bytes, keyLength, valueLength } = packPut(key, value);
          raw.put(bytes, keyLength, valueLength);
        }
      }),
      sqlite: peer((entries) => sqlite.putAll(entries)),
      lmdb: peer((entries) => lmdb.putAll(entries)),
    },
    { rounds, warmUp: 2 },
  );
  await requireCommitted(store, plans, text);
  await lmdb.close();
  sqlite.close();
  raw.close();
  await engine.close();
  await store.close();
  return samples;
}

async function ourRate(engine, plans, text, concurrent) {
  const waiting = plans.values();
  const started = performance.now();
  await Promise.all(Array.from({ length: concurrent }, () => runPlans(engine, waiting, text)));
  return plans.length / ((performance.now() - started) / 1_000);
}

async function runPlans(engine, waiting, value) {
  for (const keys of waiting) {
    const tx = await engine.begin();
    for (const key of keys) {
      const outcome = await tx.step("kv.put", { key, value });
      if (outcome.status !== "SUCCESS") throw new Error(`A step ended with ${outcome.status}`);
    }
    const { stepsCommitted } = await tx.commit();
    strictEqual(stepsCommitted, keys.length);
  }
}

function peerRate(plans, value, run) {
  const started = performance.now();
  for (const keys of plans) run(keys.map((key) => [Buffer.from(key), value]));
  return plans.length / ((performance.now() - started) / 1_000);
}

async function requireCommitted(store, plans, text) {
  for (const keys of plans) {
    const stored = await store.get(`k/${keys.at(-1)}`);
    strictEqual(JSON.parse(Buffer.from(stored).toString()), text);
  }
}
