// Goal: what a broken, stopped or refused step leaves behind never touches a later one. Method: a
// store that fails one batch, at the moment that hurts.
import { AgentTxError } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { failNth, faultyStore } from "./testing/faulty-store.js";
import { echo, harness, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

const FULL = new AgentTxError("RESOURCE_EXHAUSTED", "The disk is full.");

describe("a step whose batch the store refused", () => {
  it("keeps its effect when the outcome of the call could not be written", async () => {
    const world = new World();
    const faulty = faultyStore(openMemoryStore());
    const { engine } = harness([world.book()], { store: faulty.store });
    const tx = await engine.begin();
    faulty.hook = failNth(2, FULL);
    await expect(tx.step("book", { item: "a", mode: "half" })).rejects.toBe(FULL);
    faulty.hook = null;
    await tx.step("book", { item: "b" });
    expect(world.log).toEqual(["do a", "undo a", "do b"]);
    const effects = await engine.effects(tx.id);
    expect(effects.map(({ effectId, state }) => [effectId, state])).toEqual([
      [`${tx.id}/1`, "compensated"],
      [`${tx.id}/2`, "confirmed"],
    ]);
    await tx.abort();
    expect([...world.standing.values()]).toEqual([]);
  });

  it("leaves nothing of a staged effect that a later rollback could write", async () => {
    const world = new World();
    const faulty = faultyStore(openMemoryStore());
    const { engine } = harness([world.mail(), world.book(), echo], { store: faulty.store });
    const tx = await engine.begin();
    faulty.hook = failNth(1, FULL);
    await expect(tx.step("mail", { to: "ann" })).rejects.toBe(FULL);
    faulty.hook = null;
    await tx.step("book", { item: "a", mode: "half" });
    expect(world.log).toEqual(["do a", "undo a"]);
    await tx.commit();
    expect(world.log).toEqual(["do a", "undo a"]);
  });
});

describe("a step that was told to stop", () => {
  const hanging = defineTool({
    name: "hanging",
    schema: fields({}),
    effect: "reversible",
    execute: (_args, { signal }) =>
      new Promise<null>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      }),
    compensate() {},
    lookup: () => ({ status: "absent", final: true }),
  });

  it("is undone once, and is no failure of the infrastructure", async () => {
    const { engine, events } = harness([hanging, echo], { infrastructureFailuresMax: 0 });
    const tx = await engine.begin();
    const stop = new AbortController();
    const running = tx.step("hanging", {}, { signal: stop.signal });
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    expect(await tx.step("echo", { output: 1 })).toMatchObject({ status: "SUCCESS", step: 1 });
    const stopped = (await tx.history()).filter(({ kind }) => kind === "stopped");
    expect(stopped).toMatchObject([{ note: "signal" }]);
    expect(events.filter(({ kind }) => kind === "restored")).toHaveLength(1);
  });
});
