// Owns the process that dies. It loads everything, waits for one line of orders on stdin, opens the
// store, recovers what the one before left, and works until it is killed or told to stop.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { faultyStore } from "@agenttx/testkit";
import { inspect } from "./inspect.mjs";
import { beginWork, hunt } from "./point.mjs";
import { pointedStore } from "./points.mjs";
import { leaveAfter, say } from "./say.mjs";
import { crashTools } from "./tools.mjs";
import { tour } from "./tour.mjs";
import { Workload } from "./workload.mjs";
import { connectWorld } from "./world-client.mjs";

const QUICK = { settlingMs: 5, backoffBaseMs: 5, backoffCapMs: 20, pollMs: 20 };

const orders = isMainThread ? await readOrders() : workerData;
// The planned one ends the process as it would end anybody's.
if (orders.leave?.how !== "reject") {
  process.on("unhandledRejection", (error) => {
    say({ k: "problem", where: "unhandledRejection", message: String(error?.stack ?? error) });
  });
}
if (orders.hunt !== null) hunt(orders.hunt);

const world = await connectWorld(orders.socket);

async function readOrders() {
  const [line] = await once(createInterface({ input: process.stdin }), "line");
  return JSON.parse(line);
}

/** Ways out that a process takes by itself, in the middle of its work. */
const WAYS_OUT = {
  exit: () => process.exit(7),
  throw: () => {
    setImmediate(() => {
      throw new Error("a planned death");
    });
  },
  reject: () => void Promise.reject(new Error("a planned death")),
  terminate: () => undefined,
};

async function openParts() {
  const raw = await openStore({ path: orders.store, syncWrites: orders.sync });
  const store = pointedStore(faultyStore(raw, orders.plan));
  const tools = crashTools(world, orders.sink);
  const engine = createEngine({ store, tools, effects: QUICK, deliveryBudgetMs: 1_000 });
  return { raw, store, engine };
}

/** What another process left open and recovery did not end. */
async function takeUp(engine) {
  const left = [];
  for (const { id, status } of await engine.list({ limit: 1_000 })) {
    if (status === "COMMITTED" || status === "ROLLED_BACK" || status === "FAILED") continue;
    const tx = await engine.resume(id);
    say({ k: "resumed", tx: id, status: tx.status, nextStep: tx.nextStep });
    if (tx.status === "ACTIVE") left.push(tx);
  }
  return left;
}

async function recover(engine) {
  say({ k: "opened" });
  const report = await engine.recover({ resume: orders.resume });
  say({ k: "recovered", found: report.found, problems: report.problems });
}

async function work() {
  const { raw, engine } = await openParts();
  let stopping = false;
  process.on("SIGTERM", async () => {
    stopping = true;
    await engine.close();
    await raw.close();
    say({ k: "closed" });
    process.exit(0);
  });
  try {
    await recover(engine);
    const left = await takeUp(engine);
    say({ k: "working" });
    beginWork();
    if (orders.leave !== null) leaveAfter(orders.leave.lines, WAYS_OUT[orders.leave.how]);
    if (orders.mode === "tour") {
      await tour(engine, orders.prefix);
    } else if (orders.mode === "work") {
      await new Workload(engine, orders.seed, orders.prefix).run(orders.lanes, left);
    }
    say({ k: "rested" });
  } catch (error) {
    if (!stopping) {
      say({ k: "problem", where: "work", message: String(error?.stack ?? error) });
      process.exit(1);
    }
  }
  // Told to rest: the driver ends it.
  setInterval(() => undefined, 60_000);
}

/** The thread that works is ended from outside; the process lives, and recovers what it left. */
async function workInThread() {
  const worker = new Worker(new URL(import.meta.url), { workerData: orders });
  const ended = once(worker, "exit");
  await new Promise((resolve) => setTimeout(resolve, orders.leave.ms));
  await worker.terminate();
  await ended;
  const { raw, engine } = await openParts();
  await recover(engine);
  await takeUp(engine);
  await engine.close();
  await raw.close();
  world.close();
  say({ k: "closed" });
}

/** Somebody else has the store: it says so, and nothing is changed. */
async function probe() {
  try {
    await (await openStore({ path: orders.store })).close();
    say({ k: "probed", code: null });
  } catch (error) {
    say({ k: "probed", code: error.code ?? String(error) });
  }
  world.close();
}

if (orders.mode === "probe") {
  await probe();
} else if (isMainThread && orders.leave?.how === "terminate") {
  await workInThread();
} else if (orders.mode === "inspect") {
  await inspect(orders, openParts);
  world.close();
} else {
  await work();
}
