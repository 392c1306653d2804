// Goal: several engines of one process on one folder (C8): the recovery of one leaves alone what
// another works on, and takes up what is left of one whose thread is gone.
// Method: real stores, each engine on a Store of its own, one of them in a worker thread.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { kvTools } from "@agenttx/tools";
import { expect, it, onTestFinished } from "vitest";

const tools = kvTools({ prefix: "" });

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "agenttx-engines-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function engineOn(path: string) {
  const store = await openStore({ path });
  const engine = createEngine({ store, tools });
  onTestFinished(async () => {
    await engine.close();
    await store.close();
  });
  return { store, engine };
}

/** An engine in a thread of its own, with one transaction open in the middle. */
async function engineInThread(path: string) {
  const worker = new Worker(new URL("./children/open-and-wait.mjs", import.meta.url), {
    workerData: { path },
  });
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [id] = (await once(worker, "message")) as [string];
  return { worker, id };
}

it("leaves alone what an engine on another Store has begun", async () => {
  const path = await folder();
  const first = await engineOn(path);
  const second = await engineOn(path);
  const tx = await first.engine.begin();
  await tx.step("kv.put", { key: "a", value: 1 });
  expect(await second.engine.recover()).toMatchObject({ found: 0, rolledBack: 0, problems: [] });
  await first.store.reopen();
  expect(await second.engine.recover()).toMatchObject({ found: 0, rolledBack: 0, problems: [] });
  await tx.step("kv.put", { key: "b", value: 2 });
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 2 });
});

it("leaves alone what an engine in another thread has begun, until that thread is gone", async () => {
  const path = await folder();
  const { engine } = await engineOn(path);
  const { worker, id } = await engineInThread(path);
  expect(await engine.recover()).toMatchObject({ found: 0, rolledBack: 0 });
  expect(await engine.get(id)).toMatchObject({ status: "ACTIVE" });
  expect(await engine.recover()).toMatchObject({ found: 0, rolledBack: 0 });
  await worker.terminate();
  expect(await engine.recover()).toMatchObject({ found: 1, rolledBack: 1, problems: [] });
  expect(await engine.get(id)).toMatchObject({ status: "ROLLED_BACK" });
});

it("works on what it has resumed from another engine's Store as its own", async () => {
  const path = await folder();
  const first = await engineOn(path);
  const tx = await first.engine.begin();
  await tx.step("kv.put", { key: "a", value: 1 });
  const second = await engineOn(path);
  const third = await engineOn(path);
  await first.engine.close();
  const resumed = await second.engine.resume(tx.id);
  await first.store.close();
  expect(await third.engine.recover()).toMatchObject({ found: 0 });
  expect(await resumed.commit()).toMatchObject({ stepsCommitted: 1 });
});
