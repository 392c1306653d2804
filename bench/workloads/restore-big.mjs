// Owns the long part of the restore workload: the same restore in an empty database and beside
// ten million committed keys.
import { equal, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { openAgentTxStore } from "../drivers/agenttx.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { interleave, timed } from "../harness/timing.mjs";

const KEYS_PER_COMMIT = 20_000;

export async function loadTrial({ directory, seed, committed }) {
  const value = Buffer.from(textOf(64, seeded(seed)));
  const store = await openAgentTxStore(join(directory, "big"));
  for (let from = 0; from < committed; from += KEYS_PER_COMMIT) {
    const tx = await store.begin(`load-${from}`);
    for (let at = from; at < from + KEYS_PER_COMMIT; at += 1_000) {
      const writes = Array.from({ length: 1_000 }, (_, index) => ({
        key: keyOf(at + index),
        value,
      }));
      await tx.write(writes);
    }
    await tx.commit();
    if (from % 1_000_000 === 0) console.log(`  ${from} of ${committed} keys loaded`);
  }
  equal(value.equals(await store.get(keyOf(committed - 1))), true);
  await store.close();
  return {};
}

/** `big` and `empty`: rewrites of committed keys, taken back. */
export async function bigDatabaseTrial({ directory, seed, writes, keys, rounds }) {
  const value = Buffer.from(textOf(256, seeded(seed)));
  const big = await openAgentTxStore(join(directory, "big"));
  const empty = await openAgentTxStore(join(directory, `empty-${process.pid}`));
  // Spread over the whole key space of the big one.
  const names = Array.from({ length: keys }, (_, index) => keyOf(index * 9_973));
  const samples = await interleave(
    {
      big: (round) => rewind(big, { id: `big-${process.pid}-${round}`, names, writes, value }),
      empty: (round) => rewind(empty, { id: `empty-${round}`, names, writes, value }),
    },
    { rounds, warmUp: 3 },
  );
  await empty.close();
  await big.close();
  return samples;
}

async function rewind(store, { id, names, writes, value }) {
  const tx = await store.begin(id);
  for (let index = 0; index < writes; index += 1) await tx.put(names[index % names.length], value);
  let restored = null;
  const took = await timed(async () => {
    restored = await tx.restoreSnapshot(1);
  });
  strictEqual(restored.writesReverted, writes);
  await tx.discard();
  return took;
}

function keyOf(index) {
  return `committed-${String(index).padStart(9, "0")}`;
}
