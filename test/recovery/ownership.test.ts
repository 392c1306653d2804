// Goal: after the fence nothing of an older owner lands, wherever that owner runs (C3, E6).
// Method: two owners of one workflow, in one process and in two threads on one RocksDB store.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { openStore } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/testkit";
import { describe, expect, it } from "vitest";
import { house, orderWorld, textOf } from "./order-world.js";

const BY = { actor: "ops", reason: "stuck" };
const refused = { code: "STALE_OWNER" };

describe("an older owner in the same process", () => {
  it("is refused after another acquired the workflow, and the new one goes on", async () => {
    const { recovery, store } = house(orderWorld());
    const old = await recovery.workflows.start({ id: "w", owner: "one" });
    await old.step("put", { key: "k", value: "1" });
    const taken = await recovery.workflows.acquireOwnership("w", "two");
    expect(taken.fencingToken).toBe(old.fencingToken + 1n);
    await expect(old.step("put", { key: "k", value: "late" })).rejects.toMatchObject(refused);
    await expect(old.checkpoint("late")).rejects.toMatchObject(refused);
    await expect(old.transaction.commit()).rejects.toMatchObject(refused);
    await expect(old.transaction.abort()).rejects.toMatchObject(refused);
    await taken.step("put", { key: "l", value: "2" });
    await taken.commit();
    expect([await textOf(store, "k"), await textOf(store, "l")]).toEqual(["1", "2"]);
  });

  it("opens a workflow only with the newest token", async () => {
    const { recovery } = house(orderWorld());
    const { fencingToken } = await recovery.workflows.start({ id: "w" });
    await recovery.workflows.acquireOwnership("w", "two");
    await expect(recovery.workflows.open("w", { fencingToken })).rejects.toMatchObject(refused);
  });

  it("cannot land the result of a call that was running when the workflow was frozen", async () => {
    const world = orderWorld();
    const { recovery, clock, store } = house(world);
    const old = await recovery.workflows.start({ id: "w" });
    await old.checkpoint("empty");
    const gate = openGate();
    world.carrier.hook = async (name, when) => {
      if (name === "carrier.book.execute" && when === "after") await gate.promise;
    };
    const running = old.step("carrier.book", { order: "1" }).catch((error: unknown) => error);
    await clock.advance(0);
    const freezing = recovery.freeze("w", BY);
    await clock.advance(1_500);
    await freezing;
    gate.resolve();
    expect(await running).toMatchObject(refused);
    const plan = await recovery.plan("w");
    expect(plan.lookUp.map(({ tool }) => tool)).toEqual(["carrier.book"]);
    expect((await recovery.apply(plan, { actor: "ops" })).state).toBe("Running");
    expect([world.carrier.done.size, world.carrier.standing()]).toEqual([1, []]);
    const [transaction] = (await recovery.workflows.get("w")).revisions;
    const late = await store.scanRecords("late", { transaction: transaction?.transaction ?? "" });
    expect(late.length).toBeGreaterThan(0);
  });

  it("is stopped when another coordinator has gone on with the recovery", async () => {
    const world = orderWorld();
    const store = openMemoryStore();
    const one = house(world, store);
    const workflow = await one.recovery.workflows.start({ id: "w" });
    await workflow.checkpoint("empty");
    await workflow.step("carrier.book", { order: "1" });
    await one.recovery.freeze("w", BY);
    const plan = await one.recovery.plan("w");
    const other = house(world, store);
    const gate = openGate();
    let first = true;
    world.carrier.hook = async (name, when) => {
      if (name !== "carrier.book.compensate" || when !== "before" || !first) return;
      first = false;
      await gate.promise;
    };
    const slow = one.recovery.apply(plan, { actor: "slow" }).catch((error: unknown) => error);
    await one.clock.advance(0);
    await one.clock.advance(0);
    const view = await other.recovery.resume("w", { actor: "fast" });
    expect(view).toMatchObject({ state: "Running", revision: 2, owner: "fast" });
    gate.resolve();
    expect(await slow).toMatchObject(refused);
    expect((await other.recovery.workflows.get("w")).revisions.length).toBe(2);
    expect([...world.carrier.undone.values()]).toEqual([1]);
  });
});

it("refuses an older owner in another thread that was only slow, on RocksDB", async () => {
  const place = mkdtempSync(join(tmpdir(), "agenttx-owner-"));
  try {
    await using store = await openStore({ path: place });
    const { recovery, engine } = house(orderWorld(), store);
    await recovery.workflows.start({ id: "w" });
    const worker = new Worker(fileURLToPath(new URL("./worker-owner.mjs", import.meta.url)), {
      workerData: { path: place, workflow: "w" },
    });
    const messages: Record<string, unknown>[] = [];
    const got = async (name: string): Promise<unknown> => {
      for (;;) {
        const found = messages.find((message) => name in message);
        if (found !== undefined) return found[name];
        await new Promise<void>((done, fail) => {
          worker.once("message", () => done());
          worker.once("error", fail);
        });
      }
    };
    worker.on("message", (message) => messages.push(message));
    await got("ready");
    const frozen = await recovery.freeze("w", BY);
    const before = await store.readAudit(frozen.transaction);
    worker.postMessage("go");
    expect(await got("codes")).toEqual({
      step: "STALE_OWNER",
      effect: "STALE_OWNER",
      checkpoint: "STALE_OWNER",
      rollback: "STALE_OWNER",
      abort: "STALE_OWNER",
      commit: "STALE_OWNER",
    });
    expect(messages.some((message) => "charged" in message)).toBe(false);
    expect(await store.readAudit(frozen.transaction)).toEqual(before);
    const ended = new Promise((done) => worker.once("exit", done));
    worker.postMessage("close");
    await ended;
    expect(await store.readAudit(frozen.transaction)).toEqual(before);
    const view = await recovery.apply(await recovery.plan("w"), { actor: "ops" });
    expect(view).toMatchObject({ state: "Running", revision: 2 });
    const next = await recovery.workflows.open("w");
    await next.step("put", { key: "by", value: "new owner" });
    await next.commit();
    expect(await textOf(store, "by")).toBe("new owner");
    await engine.close();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

/** A promise that the test resolves (Promise.withResolvers is newer than Node 20). */
function openGate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
