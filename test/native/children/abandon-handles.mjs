// Abandons transaction handles and one store, collects garbage and says how many are left.
// argv: path. Needs --expose-gc.
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path] = process.argv;
const store = await openStore({ path });

async function abandon() {
  for (let index = 0; index < 500; index += 1) {
    const tx = await store.begin(`t${index}`);
    await tx.put("k", new Uint8Array(100));
    // Half of them with work that is still running when the last reference goes.
    if (index % 2) tx.scan().catch(() => {});
  }
}

async function handlesLeft() {
  for (let round = 0; round < 20; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  return (await store.stats()).driver.transactionHandles;
}

await abandon();
say(`handles ${await handlesLeft()}`);
say(`open ${(await store.stats()).openTransactions}`);
const tx = await store.attach("t7");
say(`value ${(await tx.get("k")).length}`);

await (async () => {
  await (await openStore({ path })).begin("by an abandoned store");
})();
globalThis.gc();
await store.close();
say("end");
