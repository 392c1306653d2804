// Thirty workers share one path; half of them are terminated in the middle of a commit. Says one
// line per acknowledged commit: `<worker>/<number>`, and `end` when all is closed.
// argv: path, workers, syncWrites.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, count, sync] = process.argv;
const syncWrites = sync === "true";
const store = await openStore({ path, syncWrites });

const ends = Array.from({ length: Number(count) }, async (_, index) => {
  const name = `w${index}`;
  const worker = new Worker(new URL("./commit-in-worker.mjs", import.meta.url), {
    workerData: { path, name, syncWrites },
  });
  const exited = once(worker, "exit");
  worker.on("error", (error) => say(`error ${name} ${error.message}`));
  let acknowledged = 0;
  await new Promise((enough) => {
    worker.on("message", (number) => {
      say(`${name}/${number}`);
      acknowledged += 1;
      if (acknowledged === 2 + (index % 3)) enough();
    });
    worker.on("exit", enough);
  });
  // The next commit is on its way at this moment.
  if (index % 2 === 0) await worker.terminate();
  else worker.postMessage("stop");
  await exited;
});

await Promise.all(ends);
const tx = await store.begin("main still works");
await tx.put("main", new Uint8Array(1));
await tx.commit();
await store.close();
say("end");
