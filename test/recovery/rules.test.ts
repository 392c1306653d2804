// Goal: the rules of plans, checkpoints, migrations, invariants and reconciliation, one by one.
// Method: the order world on the memory store.
import { defineInvariant, type RecoveryOptions } from "@agenttx/recovery";
import { openMemoryStore } from "@agenttx/testkit";
import { describe, expect, it } from "vitest";
import { bookedImpliesReserved, house, orderWorld, textOf } from "./order-world.js";

const BY = { actor: "ops", reason: "warehouse exception" };
const OPS = { actor: "ops" };

/** An order with a checkpoint after the reservation, and a booking after it. */
async function booked(options: Partial<RecoveryOptions> = {}, store = openMemoryStore()) {
  const world = orderWorld();
  const home = house(world, store, options);
  const order = await home.recovery.workflows.start({ id: "o" });
  await order.step("stock.reserve", { order: "1" });
  await order.step("put", { key: "reservation", value: "r1" });
  await order.checkpoint("reserved");
  await order.step("carrier.book", { order: "1" });
  return { ...home, world, order };
}

describe("a plan", () => {
  it("changes nothing, in whatever state it is made (C5)", async () => {
    const { recovery, store, order } = await booked();
    const chain = () => store.readAudit(order.transaction.id);
    const before = [await chain(), await recovery.workflows.get("o")];
    expect((await recovery.plan("o")).state).toBe("Running");
    expect([await chain(), await recovery.workflows.get("o")]).toEqual(before);
    await order.step("put", { key: "k", value: "goes on" });
  });

  it("is refused when the workflow was not frozen, or was frozen after it", async () => {
    const { recovery } = await booked();
    const early = await recovery.plan("o");
    await expect(recovery.apply(early, OPS)).rejects.toMatchObject({ code: "WORKFLOW_STATE" });
    await recovery.freeze("o", BY);
    await expect(recovery.apply(early, OPS)).rejects.toMatchObject({ code: "PLAN_CHANGED" });
    expect((await recovery.workflows.get("o")).state).toBe("Frozen");
  });

  it("is applied once, however often it is sent", async () => {
    const { recovery, world } = await booked();
    await recovery.freeze("o", BY);
    const plan = await recovery.plan("o");
    const both = await Promise.all(
      [recovery.apply(plan, OPS), recovery.apply(plan, OPS)].map(settle),
    );
    expect(both.filter((one) => one === "done").length).toBeGreaterThan(0);
    expect((await recovery.workflows.get("o")).revision).toBe(2);
    expect([...world.carrier.undone.values()]).toEqual([1]);
  });

  it("names what cannot be undone, why, and what to do instead", async () => {
    const { recovery, order } = await booked();
    await order.step("label.print", { order: "1" });
    await order.step("carrier.ask", { order: "1" });
    await recovery.freeze("o", BY);
    const plan = await recovery.plan("o");
    expect(plan.cannot.map(({ tool, reason }) => [tool, reason])).toEqual([
      ["carrier.ask", "ask"],
      ["label.print", "irreversible"],
    ]);
    expect(plan.cannot[1]?.forwardRecovery).toBe("Tear the label up and note it.");
    expect(plan.needsPerson[0]?.owner).toBe("logistics");
    const view = await recovery.apply(plan, OPS);
    expect(view.state).toBe("Reconciliation");
    const items = await recovery.reconciliation.list("o");
    expect(items.map(({ effect }) => effect.tool)).toEqual(["label.print", "carrier.ask"]);
    const [label, ask] = items.map(({ effect }) => effect.effectId);
    const note = "done by hand";
    await recovery.reconciliation.resolve(ask ?? "", { kind: "retry", actor: "ada", note });
    expect((await recovery.workflows.get("o")).state).toBe("Reconciliation");
    const accepted = { kind: "accepted-as-is", actor: "ada", note } as const;
    await recovery.reconciliation.resolve(label ?? "", accepted);
    expect(await recovery.workflows.get("o")).toMatchObject({ state: "Running", revision: 2 });
    const { events } = await recovery.explain("o");
    expect(events.map(({ event, actor }) => `${event} ${actor}`)).toEqual([
      "started ",
      "checkpoint ",
      "frozen ops",
      "classified ops",
      "compensated ops",
      "owner system",
      "reconciled ada",
      "resumed system",
    ]);
    await recovery.reconciliation.resolve(label ?? "", accepted);
    const other = { ...accepted, note: "something else" };
    await expect(recovery.reconciliation.resolve(label ?? "", other)).rejects.toMatchObject({
      code: "RESOLUTION_CONFLICT",
    });
  });
});

describe("a checkpoint", () => {
  it("is not gone back to when an invariant did not hold", async () => {
    const { recovery, order } = await booked({ invariants: [bookedImpliesReserved] });
    await order.step("put", { key: "booking", value: "b1" });
    const good = await order.checkpoint("booked");
    expect(good.validated).toBe(true);
    const other = await recovery.workflows.start({ id: "bad" });
    await other.step("put", { key: "booking", value: "b1" });
    const bad = await other.checkpoint("broken");
    expect(bad.invariants[0]).toMatchObject({
      holds: false,
      problem: expect.stringMatching("without"),
    });
    await recovery.freeze("bad", BY);
    await expect(recovery.plan("bad", { checkpoint: "broken" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect((await recovery.plan("bad")).checkpoint.name).toBe("start");
  });

  it("is not gone back to when its step was rewound and run again", async () => {
    const { recovery, order } = await booked();
    await order.transaction.rollback(2);
    await order.step("put", { key: "reservation", value: "another" });
    await recovery.freeze("o", BY);
    await expect(recovery.plan("o", { checkpoint: "reserved" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("follows every step when that is asked for", async () => {
    const { recovery } = house(orderWorld(), undefined, { checkpoints: "every-step" });
    const order = await recovery.workflows.start({ id: "o" });
    await order.step("put", { key: "a", value: "1" });
    await order.step("put", { key: "b", value: "2" });
    const names = (await recovery.workflows.checkpoints("o")).map(({ name }) => name);
    expect(names).toEqual(["start", "step 1", "step 2"]);
  });

  it("of an earlier revision is gone back to, and takes what came later with it", async () => {
    const { recovery, world, store } = await booked();
    await recovery.freeze("o", BY);
    await recovery.apply(await recovery.plan("o"), OPS);
    const second = await recovery.workflows.open("o");
    await second.step("carrier.book", { order: "1" });
    await recovery.freeze("o", BY);
    const plan = await recovery.plan("o", { checkpoint: "start" });
    const all = { revision: 1, step: 0 };
    const toBegin = await recovery.plan("o", { checkpoint: all });
    expect(plan.undo.map(({ tool, revision }) => `${revision} ${tool}`)).toEqual([
      "2 carrier.book",
    ]);
    expect(toBegin.undo.map(({ tool, revision }) => `${revision} ${tool}`)).toEqual([
      "2 carrier.book",
      "1 stock.reserve",
    ]);
    expect((await recovery.apply(toBegin, OPS)).revision).toBe(3);
    expect([world.stock.standing(), world.carrier.standing()]).toEqual([[], []]);
    const third = await recovery.workflows.open("o");
    await third.step("stock.reserve", { order: "1" });
    await third.commit();
    expect(await textOf(store, "reservation")).toBe(null);
    expect([world.stock.done.size, world.stock.standing().length]).toEqual([2, 1]);
    expect(await store.openTransactions()).toEqual([]);
  });

  it("is where an aborted revision goes on from", async () => {
    const { recovery, world, store } = await booked();
    await recovery.freeze("o", BY);
    await recovery.apply(await recovery.plan("o"), OPS);
    const second = await recovery.workflows.open("o");
    await second.step("carrier.book", { order: "1" });
    await second.transaction.abort("gave up");
    expect(world.carrier.standing()).toEqual([]);
    expect(world.stock.standing().length).toBe(1);
    await recovery.freeze("o", BY);
    const view = await recovery.apply(await recovery.plan("o"), OPS);
    expect(view).toMatchObject({ state: "Running", revision: 3 });
    const third = await recovery.workflows.open("o");
    await third.commit();
    expect(await textOf(store, "reservation")).toBe("r1");
    expect(await store.openTransactions()).toEqual([]);
  });
});

describe("an old checkpoint", () => {
  const upper = (value: Uint8Array | null) =>
    Buffer.from(
      Buffer.from(value ?? [])
        .toString()
        .toUpperCase(),
    );

  it("is refused without its migration, and nothing changes (C7)", async () => {
    const { store, engine } = await booked();
    const newer = house(orderWorld(), store, { schemaVersion: 3, migrations: { 1: () => {} } });
    await engine.close();
    await newer.recovery.freeze("o", BY);
    await expect(newer.recovery.plan("o")).rejects.toMatchObject({ code: "MIGRATION_MISSING" });
    expect((await newer.recovery.workflows.get("o")).state).toBe("Frozen");
  });

  it("is migrated on the fork, step by step, once", async () => {
    const { store, engine, world } = await booked();
    await engine.close();
    const newer = house(world, store, {
      schemaVersion: 3,
      migrations: {
        1: async (state) => state.put("reservation", upper(await state.get("reservation"))),
        2: async (state) => {
          const old = await state.get("reservation");
          state.put("reserved", Buffer.from(`${Buffer.from(old ?? []).toString()}!`));
          state.delete("reservation");
        },
      },
      invariants: [
        defineInvariant("renamed", async (view) => (await view.get("reserved")) !== null),
      ],
    });
    await newer.recovery.freeze("o", BY);
    const plan = await newer.recovery.plan("o");
    expect(plan.migrations).toEqual([1, 2]);
    await newer.recovery.apply(plan, OPS);
    const second = await newer.recovery.workflows.open("o");
    await second.commit();
    expect([await textOf(store, "reserved"), await textOf(store, "reservation")]).toEqual([
      "R1!",
      null,
    ]);
  });
});

it("stays in Reconciliation while an invariant does not hold, and goes on when it does (W4)", async () => {
  const settings = { open: false };
  const { recovery } = await booked({
    invariants: [defineInvariant("shop is open", () => settings.open || "the shop is closed")],
  });
  settings.open = true;
  const order = await recovery.workflows.open("o");
  await order.checkpoint("good");
  await order.step("carrier.book", { order: "1" });
  settings.open = false;
  await recovery.freeze("o", BY);
  const view = await recovery.apply(await recovery.plan("o"), OPS);
  expect(view.state).toBe("Reconciliation");
  expect(view.recovery).toMatchObject({ open: [], problem: expect.stringMatching("closed") });
  settings.open = true;
  expect((await recovery.resume("o", OPS)).state).toBe("Running");
});

it("waits at Recovered when it is told to, and resumes later", async () => {
  const { recovery } = await booked();
  await recovery.freeze("o", BY);
  const view = await recovery.apply(await recovery.plan("o"), { actor: "ops", resume: false });
  expect(view.state).toBe("Recovered");
  expect((await recovery.resumeAll()).waiting).toEqual(["o"]);
  expect(await recovery.resume("o", OPS)).toMatchObject({ state: "Running", revision: 2 });
});

it("passes an empty plan through Compensating", async () => {
  const { recovery } = house(orderWorld());
  await recovery.workflows.start({ id: "o" });
  await recovery.freeze("o", BY);
  await recovery.apply(await recovery.plan("o"), OPS);
  const { transitions } = await recovery.replay("o");
  expect(transitions.map(({ recorded }) => recorded)).toEqual([
    "Frozen",
    "Compensating",
    "Recovered",
    "Running",
  ]);
});

it("leaves a workflow to be resumed after a crash, and undoes only its broken step (C8)", async () => {
  const { store, world } = await booked();
  await (store as ReturnType<typeof openMemoryStore>).reopen();
  const later = house(world, store);
  const report = await later.engine.recover();
  expect(report).toMatchObject({ found: 1, resumed: 1, rolledBack: 0 });
  const order = await later.recovery.workflows.open("o");
  expect(order.transaction.nextStep).toBe(4);
  await order.commit();
  expect(world.carrier.standing().length).toBe(1);
});

it("refuses to take back what has committed", async () => {
  const { recovery, order } = await booked();
  await order.commit();
  await expect(recovery.freeze("o", BY)).rejects.toMatchObject({ code: "TRANSACTION_ENDED" });
});

it("refuses to abort or run what a recovery holds, also through a fresh handle", async () => {
  const { recovery, engine, order } = await booked();
  await recovery.freeze("o", BY);
  const held = await engine.resume(order.transaction.id);
  const frozen = { code: "TRANSACTION_FROZEN" };
  await expect(held.abort()).rejects.toMatchObject(frozen);
  await expect(held.commit()).rejects.toMatchObject(frozen);
  await expect(held.rollback(1)).rejects.toMatchObject(frozen);
});

async function settle(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    return error instanceof Error ? error.message : "failed";
  }
}
