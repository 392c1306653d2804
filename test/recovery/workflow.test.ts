// Goal: a workflow goes back to a checkpoint as a new revision, and nothing of the old one is lost.
// Method: the order world on the memory store, one process, healthy owners.
import { describe, expect, it } from "vitest";
import { bookedImpliesReserved, house, orderWorld, textOf } from "./order-world.js";

const BY = { actor: "ops", reason: "warehouse exception" };

describe("a workflow that is recovered (C1, C4)", () => {
  it("cancels what came after the checkpoint and commits a new revision", async () => {
    const world = orderWorld();
    const { store, recovery, engine } = house(world, undefined, {
      invariants: [bookedImpliesReserved],
    });
    const first = await recovery.workflows.start({ id: "order-1", name: "Order 1" });
    await first.step("stock.reserve", { order: "1" });
    await first.step("put", { key: "reservation", value: "r1" });
    await first.step("mail", { order: "1" });
    const checkpoint = await first.checkpoint("reserved");
    expect(checkpoint).toMatchObject({ revision: 1, step: 3, validated: true, schemaVersion: 1 });
    await first.step("carrier.book", { order: "1" });
    await first.step("put", { key: "booking", value: "b1" });

    const frozen = await recovery.freeze("order-1", BY);
    expect(frozen).toMatchObject({ state: "Frozen", transactionStatus: "FROZEN" });
    await expect(first.step("put", { key: "x", value: "late" })).rejects.toMatchObject({
      code: "STALE_OWNER",
    });
    const plan = await recovery.plan("order-1");
    expect(plan.checkpoint).toMatchObject({ revision: 1, step: 3, name: "reserved" });
    expect(plan.undo.map(({ tool }) => tool)).toEqual(["carrier.book"]);
    expect(plan.mutations.map(({ step }) => step)).toEqual([5, 4]);
    expect([plan.lookUp, plan.cannot, plan.drop]).toEqual([[], [], []]);

    const view = await recovery.apply(plan, { actor: "ops" });
    expect(view).toMatchObject({ state: "Running", revision: 2, recovery: null });
    expect(world.carrier.standing()).toEqual([]);
    expect(world.stock.standing().length).toBe(1);

    const second = await recovery.workflows.open("order-1");
    expect(second.revision).toBe(2);
    await second.step("carrier.book", { order: "1" });
    await second.step("put", { key: "booking", value: "b2" });
    const outcome = await second.commit();
    expect(outcome.status).toBe("COMMITTED");
    expect([await textOf(store, "reservation"), await textOf(store, "booking")]).toEqual([
      "r1",
      "b2",
    ]);
    expect(world.carrier.standing().length).toBe(1);
    expect(world.mails.length).toBe(1);
    expect(await store.openTransactions()).toEqual([]);
    expect(await engine.unresolved()).toEqual([]);
    expect((await recovery.workflows.get("order-1")).transactionStatus).toBe("COMMITTED");
    const replay = await recovery.replay("order-1");
    expect(replay.consistent).toBe(true);
    expect(replay.transitions.map(({ replayed }) => replayed)).toEqual([
      "Frozen",
      "Compensating",
      "Recovered",
      "Running",
    ]);
    expect(replay.facts.map(({ revision, tool }) => `${revision} ${tool}`)).toEqual([
      "1 stock.reserve",
      "1 put",
      "1 mail",
      "2 carrier.book",
      "2 put",
    ]);
  });
});
