// Owns the step workload: one kv.put through the engine's public API, all its durable records
// included, against one raw put from JavaScript in the same run. The layers between the two are
// measured alone as well, so that the gap has names.
import { deepEqual, strictEqual } from "node:assert/strict";
import {
  engineOn,
  DURABILITY as OURS,
  openAgentTxStore,
  openMemoryStore,
} from "../drivers/agenttx.mjs";
import { openRawRocksdb, packPut, DURABILITY as RAW } from "../drivers/raw-rocksdb.mjs";
import { openSqlite, DURABILITY as SQLITE } from "../drivers/sqlite.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { median, pooled, ratiosOf, round } from "../harness/samples.mjs";
import { interleave } from "../harness/timing.mjs";

export const title = "Step: one tool call, durable";
export const drivers = {
  "AgentTx engine, AgentTx store": OURS,
  "engine on the memory store": "none",
  "RocksDB raw put": RAW,
  "SQLite put": SQLITE,
};

const KEYS = 5_000;
const VALUE_BYTES = 256;
/** Steps of one turn, and of one transaction. */
const STEPS = 100;

export const trials = { steps: stepsTrial, memory: memoryTrial };

export async function run(bench) {
  const results = await bench.trials("steps", bench.pick({ quick: 1, normal: 3, long: 6 }), {
    rounds: bench.pick({ quick: 5, normal: 80, long: 400 }),
  });
  const { ratios, quiet } = ratiosOf(results, {
    rawPut: ["engine", "rawPut"],
    storeOfRawPut: ["storeApply", "rawPut"],
    sqlitePut: ["engine", "sqlitePut"],
  });
  const memory = await bench.trials("memory", 1, {
    rounds: bench.pick({ quick: 5, normal: 60, long: 200 }),
  });
  return {
    ratios,
    quietRatios: quiet,
    figures: { steps: pooled(results), "engine alone": pooled(memory), shares: shares(results) },
  };
}

/** Where the time of a step goes, by subtraction of medians. */
function shares(results) {
  const of = (name) => median(results.map((trial) => median(trial[name])));
  const whole = of("engine");
  const store = of("storeApply");
  return {
    "raw put": { us: round(of("rawPut")), percent: percent(of("rawPut"), whole) },
    "store above a raw put": {
      us: round(store - of("rawPut")),
      percent: percent(store - of("rawPut"), whole),
    },
    "engine above the store": { us: round(whole - store), percent: percent(whole - store, whole) },
  };
}

function percent(part, whole) {
  return round((100 * part) / whole);
}

async function stepsTrial({ directory, seed, rounds }) {
  const random = seeded(seed);
  const text = textOf(VALUE_BYTES, random);
  const store = await openAgentTxStore(directory);
  const engine = engineOn(store);
  const raw = openRawRocksdb(directory);
  const sqlite = openSqlite(directory);
  const keys = Array.from({ length: KEYS }, () => `key-${Math.floor(random() * 1e6)}`);
  const keyOf = (index, turn) => keys[(turn * STEPS + index) % KEYS];
  const samples = await interleave(
    {
      rawPut: (turn) => rawPuts(raw, (index) => keyOf(index, turn), text),
      storeApply: (turn) => storeSteps(store, (index) => keyOf(index, turn), text, turn),
      engine: (turn) => engineSteps(engine, (index) => keyOf(index, turn), text),
      sqlitePut: (turn) => sqlitePuts(sqlite, (index) => keyOf(index, turn), text),
    },
    { rounds, warmUp: Math.min(rounds, 20) },
  );
  await requireCommitted(engine, store, text);
  sqlite.close();
  raw.close();
  await engine.close();
  await store.close();
  return samples;
}

/** The engine on the memory store, in a process of its own: it is no peer in the same turns. */
async function memoryTrial({ seed, rounds }) {
  const text = textOf(VALUE_BYTES, seeded(seed));
  const engine = engineOn(await openMemoryStore());
  const turn = (round) => engineSteps(engine, (index) => `key-${round * STEPS + index}`, text);
  return interleave({ "on the memory store": turn }, { rounds, warmUp: Math.min(rounds, 20) });
}

function rawPuts(raw, keyOf, text) {
  const value = Buffer.from(text);
  const samples = [];
  for (let index = 0; index < STEPS; index += 1) {
    const { bytes, keyLength, valueLength } = packPut(Buffer.from(keyOf(index)), value);
    const started = performance.now();
    raw.put(bytes, keyLength, valueLength);
    samples.push((performance.now() - started) * 1_000);
  }
  return Promise.resolve(samples);
}

/** What the engine hands over for such a step, made before the clock starts. */
async function storeSteps(store, keyOf, text, turn) {
  const tx = await store.begin(`bench-store-${turn}`);
  const value = Buffer.from(JSON.stringify(text));
  const samples = [];
  for (let index = 0; index < STEPS; index += 1) {
    const step = index + 1;
    const key = keyOf(index);
    const record = Buffer.from(
      `{"k":"step","s":${step},"n":${step},"at":1700000000000,"w":${step},"t":"kv.put","a":{"key":"${key}","value":"${text}"},"o":{"key":"${key}"}}`,
    );
    const attempt = tx.beginAttempt();
    const batch = {
      fence: { owner: 1n, attempt, step },
      next: { step: step + 1 },
      writes: [{ key: `k/${key}`, value }],
      records: [{ space: "output", step, value: record }],
      audit: [record],
      snapshot: step + 1,
    };
    const started = performance.now();
    await tx.apply(batch);
    samples.push((performance.now() - started) * 1_000);
  }
  strictEqual(tx.header().step, STEPS + 1);
  await tx.commit();
  return samples;
}

async function engineSteps(engine, keyOf, text) {
  const tx = await engine.begin();
  const samples = [];
  for (let index = 0; index < STEPS; index += 1) {
    const key = keyOf(index);
    const started = performance.now();
    const outcome = await tx.step("kv.put", { key, value: text });
    samples.push((performance.now() - started) * 1_000);
    if (outcome.status !== "SUCCESS") throw new Error(`A step ended with ${outcome.status}`);
  }
  strictEqual(tx.nextStep, STEPS + 1);
  await tx.commit();
  return samples;
}

function sqlitePuts(sqlite, keyOf, text) {
  const value = Buffer.from(text);
  const samples = [];
  for (let index = 0; index < STEPS; index += 1) {
    const key = Buffer.from(keyOf(index));
    const started = performance.now();
    sqlite.put(key, value);
    samples.push((performance.now() - started) * 1_000);
  }
  return Promise.resolve(samples);
}

/** What was stepped is there, readable and in the history. */
async function requireCommitted(engine, store, text) {
  const tx = await engine.begin();
  await tx.step("kv.put", { key: "last", value: text });
  const { status } = await tx.commit();
  strictEqual(status, "COMMITTED");
  const stored = await store.get("k/last");
  deepEqual(JSON.parse(Buffer.from(stored).toString()), text);
  const history = await tx.history();
  if (!history.some(({ kind }) => kind === "step")) throw new Error("The step is not in the audit");
}
