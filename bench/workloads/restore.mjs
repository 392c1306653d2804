// Owns the restore workload: what 5,000 writes cost to take back, against the floor (one batch
// that puts the same keys), against the entry-by-entry algorithm, and against peers.
//
// Two scenes: `fresh` takes the transaction back to where it had not touched the keys, `older` to
// where each of them had a value, which all have to be put back, as in the floor. Each round checks
// that the state afterwards is the state of the snapshot.
import { equal, strictEqual } from "node:assert/strict";
import { DURABILITY as OURS, openAgentTxStore } from "../drivers/agenttx.mjs";
import { restoreEntryByEntry } from "../drivers/entry-by-entry.mjs";
import { DURABILITY as LMDB, openLmdb } from "../drivers/lmdb.mjs";
import { openRawRocksdb, packEntries, DURABILITY as RAW } from "../drivers/raw-rocksdb.mjs";
import { openSqlite, DURABILITY as SQLITE } from "../drivers/sqlite.mjs";
import { seeded, shuffled, textOf } from "../harness/random.mjs";
import { median, pooled, ratio, ratiosOf, round } from "../harness/samples.mjs";
import { interleave, timed } from "../harness/timing.mjs";
import { bigDatabaseTrial, loadTrial } from "./restore-big.mjs";

export const title = "Restore: taking writes back";
export const drivers = {
  "AgentTx restore": OURS,
  "RocksDB floor batch": RAW,
  "entry by entry on RocksDB": RAW,
  "SQLite ROLLBACK TO": SQLITE,
  "LMDB abort": LMDB,
};

const WRITES = 5_000;
const VALUE_BYTES = 256;

export const trials = {
  rewind: rewindTrial,
  growth: growthTrial,
  load: loadTrial,
  bigDatabase: bigDatabaseTrial,
};

export async function run(bench) {
  const rounds = bench.pick({ quick: 2, normal: 12, long: 40 });
  const processes = bench.pick({ quick: 1, normal: 2, long: 4 });
  const same = await bench.trials("rewind", processes, { writes: WRITES, keys: 1_000, rounds });
  const distinct = await bench.trials("rewind", processes, {
    writes: WRITES,
    keys: WRITES,
    rounds: Math.ceil(rounds / 2),
  });
  const growth = await bench.trials("growth", 1, {
    sizes: bench.pick({ quick: [1_000, 10_000], normal: [1_000, 10_000, 100_000] }),
    rounds: bench.pick({ quick: 1, normal: 3, long: 9 }),
  });
  const ofSame = ratiosOf(same, {
    floor: ["agenttx", "floor"],
    entrywise: ["entryByEntry", "agenttx"],
    floorStepwise: ["agenttxStepwise", "floor"],
    floorOlder: ["agenttxOlder", "floor"],
    entrywiseOlder: ["entryByEntryOlder", "agenttxOlder"],
  });
  const ofDistinct = ratiosOf(distinct, {
    floorDistinct: ["agenttx", "floor"],
    entrywiseDistinct: ["entryByEntry", "agenttx"],
    floorDistinctStepwise: ["agenttxStepwise", "floor"],
    floorDistinctOlder: ["agenttxOlder", "floor"],
    entrywiseDistinctOlder: ["entryByEntryOlder", "agenttxOlder"],
  });
  const ratios = { ...ofSame.ratios, ...ofDistinct.ratios, ...growthRatios(growth[0]) };
  const figures = {
    "1,000 keys": pooled(same),
    "5,000 keys": pooled(distinct),
    growth: pooled(growth),
  };
  if (bench.long) Object.assign(ratios, await measureBigDatabase(bench, figures));
  return { ratios, figures, quietRatios: { ...ofSame.quiet, ...ofDistinct.quiet } };
}

/** Per-key cost of each size against the smallest; `growth` is the largest size's. */
function growthRatios(samples) {
  const perKey = Object.entries(samples).map(([name, list]) => median(list) / Number(name));
  return { growth: round(perKey.at(-1) / perKey[0]) };
}

async function measureBigDatabase(bench, figures) {
  const committed = 10_000_000;
  const results = await bench.inOneDirectory(async (directory) => {
    await bench.trials("load", 1, { committed }, { directory });
    return bench.trials(
      "bigDatabase",
      2,
      { writes: WRITES, keys: 1_000, rounds: 15 },
      { directory },
    );
  });
  figures["beside 10,000,000 committed keys"] = pooled(results);
  return { bigDatabase: ratio(results, "big", "empty") };
}

async function rewindTrial({ directory, seed, writes, keys, rounds }) {
  const random = seeded(seed);
  const names = shuffled(
    Array.from({ length: keys }, (_, index) => `key-${index}`),
    random,
  );
  const scene = {
    writes,
    names,
    older: Buffer.from(textOf(VALUE_BYTES, random)),
    newer: Buffer.from(textOf(VALUE_BYTES, random)),
  };
  const store = await openAgentTxStore(directory);
  const raw = openRawRocksdb(directory);
  const floor = packEntries(names.map((name) => [Buffer.from(name), scene.older]));
  const sqlite = openSqlite(directory);
  const lmdb = openLmdb(directory);
  const naive = { writes, keys, valueBytes: VALUE_BYTES };
  const samples = await interleave(
    {
      agenttx: () => restoreOurs(store, scene, {}),
      floor: () => timed(() => raw.putBatch(floor.bytes, floor.length)),
      entryByEntry: restoreEntryByEntry(directory, { ...naive, older: false }),
      agenttxStepwise: () => restoreOurs(store, scene, { stepwise: true }),
      agenttxOlder: () => restoreOurs(store, scene, { older: true }),
      entryByEntryOlder: restoreEntryByEntry(directory, { ...naive, older: true }),
      sqliteRollbackTo: () => rollbackSqlite(sqlite, scene),
      lmdbAbort: () => abortLmdb(lmdb, scene),
    },
    { rounds, warmUp: 2 },
  );
  await lmdb.close();
  sqlite.close();
  raw.close();
  await store.close();
  return samples;
}

let transactions = 0;

async function restoreOurs(store, scene, { stepwise = false, older = false }) {
  const { names, writes, newer } = scene;
  transactions += 1;
  const tx = await store.begin(`bench-${transactions}`);
  if (older) await tx.write(names.map((key) => ({ key, value: scene.older })));
  await tx.createSnapshot(2);
  for (let index = 0; index < writes; index += 1) {
    const key = names[index % names.length];
    if (stepwise) await tx.apply({ writes: [{ key, value: newer }], snapshot: 3 + index });
    else await tx.put(key, newer);
  }
  let restored = null;
  const took = await timed(async () => {
    restored = await tx.restoreSnapshot(2);
  });
  strictEqual(restored.writesReverted, writes);
  strictEqual(restored.keysRestored, names.length);
  for (const value of await tx.getMany(names)) {
    equal(older ? scene.older.equals(value) : value === null, true);
  }
  await tx.discard();
  return took;
}

function rollbackSqlite(sqlite, { names, writes, older, newer }) {
  sqlite.run("BEGIN");
  for (const name of names) sqlite.put(Buffer.from(name), older);
  sqlite.run("SAVEPOINT step");
  for (let index = 0; index < writes; index += 1) {
    sqlite.put(Buffer.from(names[index % names.length]), newer);
  }
  const started = performance.now();
  sqlite.run("ROLLBACK TO step");
  const took = (performance.now() - started) * 1_000;
  for (const name of names) equal(older.equals(sqlite.get(Buffer.from(name))), true);
  sqlite.run("ROLLBACK");
  return took;
}

function abortLmdb(lmdb, { names, writes, newer }) {
  let started = 0;
  lmdb.writeAndAbort(
    (put) => {
      for (let index = 0; index < writes; index += 1) {
        put(Buffer.from(names[index % names.length]), newer);
      }
    },
    () => {
      started = performance.now();
    },
  );
  const took = (performance.now() - started) * 1_000;
  strictEqual(lmdb.get(Buffer.from(names[0])), null);
  return took;
}

/** Distinct new keys, more and more of them; the samples stand under their number. */
async function growthTrial({ directory, seed, sizes, rounds }) {
  const value = Buffer.from(textOf(VALUE_BYTES, seeded(seed)));
  const store = await openAgentTxStore(directory);
  const turns = sizes.map((size) => [size, () => restoreNewKeys(store, size, value)]);
  const samples = await interleave(Object.fromEntries(turns), { rounds, warmUp: 1 });
  await store.close();
  return samples;
}

async function restoreNewKeys(store, size, value) {
  transactions += 1;
  const tx = await store.begin(`growth-${transactions}`);
  await tx.put("before", value);
  await tx.createSnapshot(2);
  for (let from = 0; from < size; from += 500) {
    const count = Math.min(500, size - from);
    const keys = Array.from({ length: count }, (_, index) => `key-${from + index}`);
    await tx.write(keys.map((key) => ({ key, value })));
  }
  let restored = null;
  const took = await timed(async () => {
    restored = await tx.restoreSnapshot(2);
  });
  strictEqual(restored.keysRestored, size);
  const left = await tx.scan({ limit: 10 });
  strictEqual(left.length, 1);
  await tx.discard();
  return took;
}
