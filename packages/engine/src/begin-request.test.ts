// Goal: a begin that is repeated never opens a second transaction (P1). Method: the engine on the
// memory store, repeats in a row, at once, after a restart and after retention.
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { createEngine } from "./index.js";

async function engineOn(store = openMemoryStore(), now = () => 1_000) {
  const opened = await store;
  const clock = { now, monotonic: now, schedule: () => () => {} };
  return { store: opened, engine: createEngine({ store: opened, tools: [], clock }) };
}

describe("begin with a request id", () => {
  it("opens one transaction however often it is sent", async () => {
    const { engine } = await engineOn();
    const begin = () => engine.begin({ requestId: "r1", agentId: "a" });
    const handles = await Promise.all([begin(), begin(), begin()]);
    expect(new Set(handles.map(({ id }) => id)).size).toBe(1);
    expect((await begin()).id).toBe(handles[0]?.id);
    expect((await engine.begin({ agentId: "a" })).id).not.toBe(handles[0]?.id);
  });

  it("refuses the same id with other content, and keeps tenants apart", async () => {
    const { engine } = await engineOn();
    const first = await engine.begin({ requestId: "r1" });
    await expect(engine.begin({ requestId: "r1", agentId: "b" })).rejects.toMatchObject({
      code: "REQUEST_ID_REUSED",
    });
    const other = await engine.begin({ requestId: "r1", namespace: "tenant" });
    expect(other.id).not.toBe(first.id);
  });

  it("finds the transaction after a restart, also when it has ended", async () => {
    const { engine, store } = await engineOn();
    const first = await engine.begin({ requestId: "r1" });
    await first.commit();
    await engine.close();
    await store.reopen();
    const again = createEngine({ store, tools: [] });
    const found = await again.begin({ requestId: "r1" });
    expect([found.id, found.status]).toEqual([first.id, "COMMITTED"]);
  });

  it("forgets the id together with the transaction", async () => {
    let now = 1_000;
    const { engine, store } = await engineOn(undefined, () => now);
    await (await engine.begin({ requestId: "r1" })).commit();
    now += 8 * 24 * 3_600_000;
    expect(await engine.removeExpired()).toMatchObject({ removed: 1 });
    const marks = await store.scanRecords("meta", { transaction: "" });
    expect(marks.filter(({ name }) => name.startsWith("begin/"))).toEqual([]);
  });

  it("refuses an empty id", async () => {
    const { engine } = await engineOn();
    await expect(engine.begin({ requestId: "" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
