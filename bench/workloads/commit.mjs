// Owns the commit workload: publishing 1,000 and 10,000 keys against one batch that puts the same
// keys. `commit` has every key validated, because another transaction has committed in between;
// `commitAlone` is what a transaction pays when nobody did.
import { equal, strictEqual } from "node:assert/strict";
import { DURABILITY as OURS, openAgentTxStore } from "../drivers/agenttx.mjs";
import { DURABILITY as LMDB, openLmdb } from "../drivers/lmdb.mjs";
import { openRawRocksdb, packEntries, DURABILITY as RAW } from "../drivers/raw-rocksdb.mjs";
import { openSqlite, DURABILITY as SQLITE } from "../drivers/sqlite.mjs";
import { seeded, shuffled, textOf } from "../harness/random.mjs";
import { pooled, ratiosOf } from "../harness/samples.mjs";
import { interleave, timed } from "../harness/timing.mjs";

export const title = "Commit: publishing a transaction";
export const drivers = {
  "AgentTx commit": OURS,
  "RocksDB floor batch": RAW,
  "SQLite COMMIT": `${SQLITE}; the puts themselves included`,
  "LMDB commit": `${LMDB}; the puts themselves included`,
};

const VALUE_BYTES = 256;

export const trials = { publish: publishTrial };

export async function run(bench) {
  const processes = bench.pick({ quick: 1, normal: 2, long: 4 });
  const rounds = bench.pick({ quick: 3, normal: 30, long: 100 });
  const small = await bench.trials("publish", processes, { keys: 1_000, rounds });
  const large = await bench.trials("publish", processes, {
    keys: 10_000,
    rounds: Math.ceil(rounds / 6),
  });
  const ofSmall = ratiosOf(small, {
    floor: ["commit", "floor"],
    floorAlone: ["commitAlone", "floor"],
    sqliteTransaction: ["commit", "sqliteTransaction"],
  });
  const ofLarge = ratiosOf(large, {
    floor10k: ["commit", "floor"],
    floorAlone10k: ["commitAlone", "floor"],
  });
  return {
    ratios: { ...ofSmall.ratios, ...ofLarge.ratios },
    quietRatios: { ...ofSmall.quiet, ...ofLarge.quiet },
    figures: { "1,000 keys": pooled(small), "10,000 keys": pooled(large) },
  };
}

async function publishTrial({ directory, seed, keys, rounds }) {
  const random = seeded(seed);
  const names = shuffled(
    Array.from({ length: keys }, (_, index) => `key-${index}`),
    random,
  );
  const value = Buffer.from(textOf(VALUE_BYTES, random));
  const store = await openAgentTxStore(directory);
  const raw = openRawRocksdb(directory);
  const sqlite = openSqlite(directory);
  const lmdb = openLmdb(directory);
  const entries = names.map((name) => [Buffer.from(name), value]);
  const floor = packEntries(entries);
  const samples = await interleave(
    {
      commit: (round) => commitOurs(store, names, value, { id: `busy-${round}`, busy: true }),
      floor: () => timed(() => raw.putBatch(floor.bytes, floor.length)),
      commitAlone: (round) =>
        commitOurs(store, names, value, { id: `alone-${round}`, busy: false }),
      sqliteTransaction: () => timed(() => sqlite.putAll(entries)),
      lmdbTransaction: () => timed(() => lmdb.putAll(entries)),
    },
    { rounds, warmUp: 3 },
  );
  await lmdb.close();
  sqlite.close();
  raw.close();
  await store.close();
  return samples;
}

async function commitOurs(store, names, value, { id, busy }) {
  const tx = await store.begin(id);
  // As agents write: step by step.
  for (let index = 0; index < names.length; index += 10) {
    const writes = names.slice(index, index + 10).map((key) => ({ key, value }));
    await tx.apply({ writes, snapshot: 2 + index });
  }
  if (busy) await commitAnother(store, `${id}-other`, value);
  let result = null;
  const took = await timed(async () => {
    result = await tx.commit();
  });
  strictEqual(result.keysPublished, names.length);
  for (const name of [names[0], names.at(-1)]) {
    const committed = await store.getVersioned(name);
    strictEqual(committed?.version, result.commitVersion);
    equal(value.equals(committed.value), true);
  }
  return took;
}

async function commitAnother(store, id, value) {
  const other = await store.begin(id);
  await other.put("unrelated", value);
  await other.commit();
}
