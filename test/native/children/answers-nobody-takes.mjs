// Workers are terminated while answers for them come in one after another, so that one comes in at
// every moment of their end. Says `end` when all are gone. argv: path, workers.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, count] = process.argv;
const store = await openStore({ path });

for (let number = 0; number < Number(count); number += 1) {
  const worker = new Worker(new URL("./ask-and-spin.mjs", import.meta.url), {
    workerData: { path },
  });
  const exited = once(worker, "exit");
  await once(worker, "message");
  await worker.terminate();
  await exited;
}
await store.close();
say("end");
