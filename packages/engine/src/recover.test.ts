// Goal: rule C8 and P2. Whatever the moment of the crash, the next engine finds on disk what to do.
import { AgentTxError } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { failNth, faultyStore } from "./testing/faulty-store.js";
import { echo, get, harness, put, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

const DEAD = new AgentTxError("INTERNAL", "The process died here.");

describe("after a crash", () => {
  it("undoes effects newest first, discards the state and keeps the outcome", async () => {
    const world = new World();
    const { engine, restart, store } = harness([world.book(), put]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    await tx.step("put", { key: "k", value: 1 });
    await tx.step("book", { item: "b" });
    const later = await restart();
    const report = await later.recover();
    expect(report).toMatchObject({ found: 1, rolledBack: 1, resumed: 0, problems: [], done: true });
    expect(world.log).toEqual(["do a", "do b", "undo b", "undo a"]);
    expect(await store.openTransactions()).toEqual([]);
    expect(await later.get(tx.id)).toMatchObject({
      status: "ROLLED_BACK",
      abortReason: "CRASH_RECOVERY",
    });
    expect(await later.recover()).toMatchObject({ found: 0 });
  });

  it("goes on at the next step when asked to resume", async () => {
    const world = new World();
    const { engine, restart } = harness([world.book(), put, get]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    await tx.step("put", { key: "k", value: 1 });
    const later = await restart();
    expect(await later.recover({ resume: true })).toMatchObject({ resumed: 1, rolledBack: 0 });
    const resumed = await later.resume(tx.id);
    expect(resumed.nextStep).toBe(3);
    expect(await resumed.step("get", { key: "k" })).toMatchObject({ output: { value: 1 } });
    await resumed.commit();
    expect(world.log).toEqual(["do a"]);
  });

  it("leaves open what a clean shutdown left, and undoes it after a later crash", async () => {
    const world = new World();
    const { engine, restart } = harness([world.book(), put]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    await engine.close();
    await expect(tx.step("book", { item: "b" })).rejects.toMatchObject({ code: "CLOSED" });
    const second = await restart();
    expect(await second.recover()).toMatchObject({ found: 1, resumed: 1, rolledBack: 0 });
    const resumed = await second.resume(tx.id);
    await resumed.step("book", { item: "b" });
    const third = await restart();
    expect(await third.recover()).toMatchObject({ rolledBack: 1 });
    expect(world.log).toEqual(["do a", "do b", "undo b", "undo a"]);
  });

  it("undoes the effect of the step that had no receipt, and runs the step under a new key", async () => {
    const world = new World();
    const faulty = faultyStore(openMemoryStore());
    const { engine, restart } = harness([world.book()], { store: faulty.store });
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    faulty.hook = failNth(2, DEAD);
    await expect(tx.step("book", { item: "b" })).rejects.toBe(DEAD);
    faulty.hook = null;
    const later = await restart();
    await later.recover({ resume: true });
    const resumed = await later.resume(tx.id);
    expect(world.log).toEqual(["do a", "do b", "undo b"]);
    expect(await resumed.step("book", { item: "c" })).toMatchObject({ step: 2 });
    await resumed.commit();
  });

  it("continues a rollback from wherever it stopped, and answers the request with it", async () => {
    for (const nth of [1, 2, 3, 4, 5]) {
      const world = new World();
      const faulty = faultyStore(openMemoryStore());
      const { engine, restart } = harness([world.book(), echo], { store: faulty.store });
      const tx = await engine.begin();
      for (const item of ["a", "b"]) await tx.step("book", { item });
      faulty.hook = failNth(nth, DEAD);
      const call = { fail: "no idea" };
      const crashed = await tx.step("echo", call, { requestId: "r1" }).catch((error) => error);
      faulty.hook = null;
      const later = await restart();
      await later.recover({ resume: true });
      const resumed = await later.resume(tx.id);
      const again = await resumed.step("echo", call, { requestId: "r1" });
      expect(again, `crash at batch ${nth}`).toMatchObject({
        status: "ROLLBACK_TRIGGERED",
        step: 3,
        rollbackToStep: 2,
        repeated: nth > 1 || crashed !== DEAD,
      });
      expect(world.log, `crash at batch ${nth}`).toEqual(["do a", "do b", "undo b"]);
      expect(resumed.nextStep).toBe(2);
    }
  });

  it("never adopts what this engine has begun (bug report 13)", async () => {
    const { engine } = harness([put]);
    const [tx, report] = await Promise.all([engine.begin(), engine.recover()]);
    await tx.step("put", { key: "a", value: 1 });
    expect(report).toMatchObject({ rolledBack: 0 });
    expect(await engine.recover()).toMatchObject({ found: 0 });
    await tx.commit();
  });

  it("leaves a record it cannot read, and recovers the others", async () => {
    const { engine, restart, store } = harness([put]);
    const bad = await store.begin("bad", { payload: Buffer.from("garbage") });
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    const report = await (await restart()).recover();
    expect(report).toMatchObject({
      found: 2,
      rolledBack: 1,
      problems: [{ transaction: "bad", message: expect.stringContaining("cannot be read") }],
    });
    expect((await store.openTransactions()).map(({ id }) => id)).toEqual([bad.id]);
  });
});

describe("an outcome is kept (P2)", () => {
  it("of a commit, also after a restart", async () => {
    const { engine, restart } = harness([put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    const first = await tx.commit();
    expect(await tx.commit()).toEqual(first);
    const later = await (await restart()).resume(tx.id);
    expect(later.status).toBe("COMMITTED");
    expect(await later.commit()).toEqual(first);
    await expect(later.abort()).rejects.toMatchObject({
      code: "TRANSACTION_ENDED",
      details: { status: "COMMITTED" },
    });
    await expect(later.step("put", { key: "a", value: 1 })).rejects.toMatchObject({
      code: "TRANSACTION_ENDED",
    });
  });

  it("of an abort, also after a restart", async () => {
    const world = new World();
    const { engine, restart } = harness([world.book()]);
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    const first = await tx.abort("changed my mind");
    expect(first).toMatchObject({ rolledBack: true, status: "ROLLED_BACK", nextStep: 0 });
    expect(await tx.abort()).toEqual(first);
    const later = await (await restart()).resume(tx.id);
    expect(await later.abort()).toEqual(first);
    expect(world.log).toEqual(["do a", "undo a"]);
  });

  it("of a commit that was interrupted, once the store is back", async () => {
    const faulty = faultyStore(openMemoryStore());
    const { engine } = harness([put], { store: faulty.store });
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    const unknown = new AgentTxError("OUTCOME_UNKNOWN", "The write failed half-way.");
    faulty.hook = failNth(1, unknown);
    await expect(tx.commit()).rejects.toBe(unknown);
    expect(await tx.commit()).toMatchObject({ status: "COMMITTED", stepsCommitted: 1 });
  });

  it("of a commit whose process died before it wrote anything else", async () => {
    const stuck = defineTool({
      name: "mail",
      schema: fields({}),
      effect: "irreversible",
      irreversible: "staged",
      execute: () => new Promise<never>(() => undefined),
    });
    const { engine, restart, store } = harness([put, stuck]);
    await engine.transaction((tx) => tx.step("put", { key: "a", value: 1 }));
    const tx = await engine.begin();
    await tx.step("mail", {});
    // It is durable, and the first delivery never ends.
    void tx.commit().catch(() => undefined);
    await expect.poll(async () => (await store.stats()).commitVersion).toBe(2n);
    const later = await (await restart()).resume(tx.id);
    expect(await later.commit()).toMatchObject({ status: "COMMITTED", commitVersion: 2n });
  });

  it("of a commit without effects in one write", async () => {
    const { engine, store } = harness([put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    const before = (await store.stats()).batches;
    await tx.commit();
    expect((await store.stats()).batches).toBe(before + 1);
  });

  it("as an earlier version of this engine wrote it", async () => {
    const { engine, restart, store } = harness([put]);
    for (const [commitVersion, told] of [
      ["7", 7n],
      [null, 0n],
    ] as const) {
      const tx = await engine.begin();
      await tx.commit();
      const stored = await store.readRecord(tx.id, { space: "terminal" });
      const record = JSON.parse(Buffer.from(stored ?? []).toString("utf8", 8));
      const old = { ...record, v: 1, commit: { ...record.commit, commitVersion } };
      await store.writeRecords(tx.id, {
        records: [{ space: "terminal", value: Buffer.from(JSON.stringify(old)) }],
      });
      const later = await (await restart()).resume(tx.id);
      expect(await later.commit()).toMatchObject({ status: "COMMITTED", commitVersion: told });
    }
  });

  it("is not found for an id that never was", async () => {
    const { engine } = harness([put]);
    await expect(engine.resume("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(engine.get("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
