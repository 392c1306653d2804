// Goal: a drill says what a recovery would do with owners as they may be, on a copy, and calls
// nobody. Method: a store on disk with open orders, copied by checkpoint.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DrillOwners, runDrill } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { afterEach, expect, it } from "vitest";
import { house, orderWorld } from "./order-world.js";

const places: string[] = [];
afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
});

/** Two open orders, each with a reservation before its checkpoint and a booking after it. */
async function drill(owners: DrillOwners) {
  const place = mkdtempSync(join(tmpdir(), "agenttx-drill-"));
  places.push(place);
  const world = orderWorld();
  await using store = await openStore({ path: join(place, "store") });
  const { recovery, engine } = house(world, store);
  for (const id of ["o-1", "o-2"]) {
    const order = await recovery.workflows.start({ id });
    await order.step("stock.reserve", { order: id });
    await order.checkpoint("reserved");
    await order.step("carrier.book", { order: id });
  }
  const copy = join(place, "copy");
  await store.checkpoint(copy);
  const callsBefore = world.carrier.calls.length;
  await using copied = await openStore({ path: copy });
  const report = await runDrill({
    store: copied,
    owners,
    tools: world.tools,
    slowMs: 20,
    deadlineMs: 60,
  });
  expect(world.carrier.calls.length).toBe(callsBefore);
  expect((await recovery.workflows.get("o-1")).state).toBe("Running");
  expect((await recovery.workflows.get("o-1")).revision).toBe(1);
  await engine.close();
  return report;
}

it.each(["healthy", "slow"] as const)("recovers everything with %s owners", async (others) => {
  const report = await drill({ others });
  expect(report).toMatchObject({ recovered: 2, stuck: 0, unverified: [] });
  expect(report.workflows.map(({ undone, unresolved }) => [undone, unresolved])).toEqual([
    [1, []],
    [1, []],
  ]);
  expect(report.recoveryMs.max).toBeGreaterThan(others === "slow" ? 20 : 0);
});

it.each(["failing", "silent", "wrong"] as const)(
  "names what would stay unresolved with a %s carrier",
  async (behaviour) => {
    const report = await drill({ byTool: { "carrier.book": behaviour } });
    expect(report).toMatchObject({ recovered: 0, stuck: 2 });
    for (const { state, unresolved } of report.workflows) {
      expect(state).toBe("Reconciliation");
      expect(unresolved.map(({ tool }) => tool)).toEqual(["carrier.book"]);
      expect(unresolved[0]?.problem).not.toBe("");
    }
  },
);
