// Runs in a worker thread: opens the path and commits until it is told or made to stop. Posts the
// number of each acknowledged commit.
import { parentPort, workerData } from "node:worker_threads";
import { openStore } from "@agenttx/storage";

const { path, name, exitAfter = Number.POSITIVE_INFINITY, syncWrites = false } = workerData;
const value = new Uint8Array(200).fill(1);
const store = await openStore({ path, syncWrites });
let stopping = false;
parentPort.on("message", () => {
  stopping = true;
});

for (let number = 1; !stopping; number += 1) {
  const tx = await store.begin(`${name}/${number}`);
  const keys = Array.from({ length: 300 }, (_, key) => `${name}/${number}/${key}`);
  await tx.write(keys.map((key) => ({ key, value })));
  await tx.commit();
  parentPort.postMessage(number);
  if (number === exitAfter) process.exit(0);
  // Messages are read between commits; waiting on promises alone would never let them in.
  await new Promise((resolve) => setImmediate(resolve));
}
await store.close();
parentPort.close();
