// Runs in a worker thread: asks more than other threads can answer before it is terminated, and
// does not listen.
import { parentPort, workerData } from "node:worker_threads";
import { openStore } from "@agenttx/storage";

const store = await openStore({ path: workerData.path });
for (let asked = 0; asked < 4_000; asked += 1) void store.stats();
parentPort.postMessage("asked");
for (;;) performance.now();
