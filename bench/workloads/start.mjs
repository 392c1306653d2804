// Owns the start workload: a process is killed with 10,000 open transactions; how soon does the
// next one serve, and how soon is everything recovered? The store's files are in the page cache.
import { strictEqual } from "node:assert/strict";
import { engineOn, DURABILITY as OURS, openAgentTxStore } from "../drivers/agenttx.mjs";
import { median, round, summary } from "../harness/samples.mjs";

export const title = "Start: open transactions to recover";
export const unit = "us";
export const drivers = { "AgentTx, after kill -9": OURS };

const STEPS = 3;

export const trials = { leave: leaveTrial, start: startTrial };

export async function run(bench) {
  const open = bench.pick({ quick: 500, normal: 10_000 });
  const results = [];
  for (let index = 0; index < bench.pick({ quick: 1, normal: 3, long: 7 }); index += 1) {
    await bench.inOneDirectory(async (directory) => {
      await bench.trials("leave", 1, { open }, { directory, killed: true });
      results.push(...(await bench.trials("start", 1, { open }, { directory })));
    });
  }
  const of = (name) => results.map((trial) => trial[name]);
  const seconds = (name) => round(median(of(name)) / 1e6);
  return {
    ratios: { secondsToServing: seconds("serving"), secondsToRecovered: seconds("recovered") },
    figures: {
      [`${open} open transactions of ${STEPS} steps`]: Object.fromEntries(
        ["opened", "serving", "recovered"].map((name) => [name, summary(of(name))]),
      ),
    },
  };
}

/** Never ends by itself: it is killed once it has told what it left. */
async function leaveTrial({ directory, open }) {
  const store = await openAgentTxStore(directory);
  const engine = engineOn(store);
  for (let index = 0; index < open; index += 1) {
    const tx = await engine.begin();
    for (let step = 1; step <= STEPS; step += 1) {
      await tx.step("kv.put", { key: `key-${index}-${step}`, value: step });
    }
  }
  return { open };
}

async function startTrial({ directory, open }) {
  const started = performance.now();
  const since = () => (performance.now() - started) * 1_000;
  const store = await openAgentTxStore(directory);
  const opened = since();
  const engine = engineOn(store);
  const recovering = engine.recover();
  await engine.transaction((tx) => tx.step("kv.put", { key: "served", value: true }));
  const serving = since();
  const report = await recovering;
  const recovered = since();
  const { openTransactions } = await store.stats();
  strictEqual(openTransactions, 0);
  strictEqual(Buffer.from(await store.get("k/served")).toString(), "true");
  strictEqual(await store.get("k/key-0-1"), null);
  console.log(`  recovery reports ${JSON.stringify(report, replaceLong)}`);
  strictEqual(report.found, open);
  await engine.close();
  await store.close();
  return { opened, serving, recovered };
}

function replaceLong(_key, value) {
  return Array.isArray(value) ? value.length : value;
}
