// Ends a process that has open handles and work in flight, by the route it is told.
// argv: path, route. Says `ready` once the work is in flight.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, route] = process.argv;
const value = new Uint8Array(256).fill(7);

const store = await openStore({ path });
const second = await openStore({ path });
const done = await store.begin("acknowledged");
await done.put("acknowledged", value);
await done.commit();

/** Commits, restores, scans and large batches that nobody waits for. */
async function workInFlight() {
  const work = [];
  for (let index = 0; index < 12; index += 1) {
    const tx = await (index % 2 ? store : second).begin(`t${index}`);
    await tx.write(Array.from({ length: 2_000 }, (_, key) => ({ key: `${index}/${key}`, value })));
    if (index % 3 === 0) work.push(tx.commit());
    else if (index % 3 === 1) work.push(tx.restoreSnapshot(1));
    else work.push(tx.scan({ limit: 2_000 }), tx.put("large", new Uint8Array(1024 * 1024)));
  }
  for (const promise of work) promise.catch(() => {});
  return work;
}

const ROUTES = {
  "natural end": () => {},
  "natural end after close": async () => {
    await Promise.all([store.close(), second.close()]);
  },
  "process.exit": () => process.exit(0),
  "process.exit in a promise": (work) => work[0].finally(() => process.exit(0)),
  "process.exit in an exit handler": () => {
    process.on("exit", () => process.exit(0));
    process.exit(0);
  },
  "process.exit during close": () => {
    void store.close();
    void second.close();
    process.exit(0);
  },
  "process.reallyExit": () => process.reallyExit(0),
  "uncaught exception": () => {
    setImmediate(() => {
      throw new Error("uncaught on purpose");
    });
  },
  "unhandled rejection": () => {
    void Promise.reject(new Error("unhandled on purpose"));
  },
  "signal handler that exits": () => {
    process.on("SIGTERM", () => process.exit(0));
    process.kill(process.pid, "SIGTERM");
  },
  "signal without handler": () => process.kill(process.pid, "SIGTERM"),
  "worker holds the store": async () => {
    const worker = new Worker(new URL("./commit-in-worker.mjs", import.meta.url), {
      workerData: { path, name: "holder" },
    });
    await once(worker, "message");
    process.exit(0);
  },
  "worker exits by process.exit": async () => {
    const worker = new Worker(new URL("./commit-in-worker.mjs", import.meta.url), {
      workerData: { path, name: "leaver", exitAfter: 3 },
    });
    await once(worker, "exit");
    process.exit(0);
  },
};

const work = await workInFlight();
say("ready");
await ROUTES[route](work);
