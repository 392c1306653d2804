// The old owner, in a worker thread on the same store: it holds a workflow with the token it was
// given and goes on writing when it is told to, however long it was asleep.
import { parentPort, workerData } from "node:worker_threads";
import { createEngine, defineTool } from "@agenttx/engine";
import { createRecovery } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { z } from "zod";

const put = defineTool({
  name: "put",
  schema: z.strictObject({ key: z.string(), value: z.string() }),
  effect: "reversible",
  scope: "store",
  execute({ key, value }, { state }) {
    state.put(key, Buffer.from(value));
    return null;
  },
});
const charge = defineTool({
  name: "charge",
  schema: z.strictObject({}),
  effect: "reversible",
  execute() {
    parentPort.postMessage({ charged: true });
    return null;
  },
  compensate() {},
});

const store = await openStore({ path: workerData.path });
const engine = createEngine({ store, tools: [put, charge] });
const recovery = createRecovery({ engine, store });
const workflow = await recovery.workflows.open(workerData.workflow);
await workflow.step("put", { key: "by", value: "old owner" });

const attempts = {
  step: () => workflow.step("put", { key: "by", value: "late" }),
  effect: () => workflow.step("charge", {}),
  checkpoint: () => workflow.checkpoint("late"),
  rollback: () => workflow.transaction.rollback(1),
  abort: () => workflow.transaction.abort("late"),
  commit: () => workflow.commit(),
};

parentPort.on("message", async (message) => {
  if (message === "close") {
    await engine.close();
    await store.close();
    parentPort.close();
    return;
  }
  const codes = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    codes[name] = await attempt().then(
      () => "done",
      (error) => error.code ?? error.message,
    );
  }
  parentPort.postMessage({ codes });
});
parentPort.postMessage({ ready: true });
