// Runs in a worker thread: begins a transaction, makes a step, says its id, and waits.
import { parentPort, workerData } from "node:worker_threads";
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { kvTools } from "@agenttx/tools";

const store = await openStore({ path: workerData.path });
const engine = createEngine({ store, tools: kvTools({ prefix: "" }) });
const tx = await engine.begin();
await tx.step("kv.put", { key: "k", value: 1 });
parentPort.postMessage(tx.id);
// Stays until it is terminated.
setInterval(() => undefined, 1_000);
