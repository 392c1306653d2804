// Goal: a start with very many open workflows serves at once, while their recoveries go on behind
// it. Method: a store on disk with open workflows, every tenth of them in the middle of a recovery;
// 1,000 of them here, 10,000 with AGENTTX_LONG=1. Times are of this machine and printed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@agenttx/engine";
import { createRecovery } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { expect, it } from "vitest";
import { type OrderWorld, orderWorld } from "./order-world.js";

const COUNT = process.env.AGENTTX_LONG === "1" ? 10_000 : 1_000;
const SERVING_MS_MAX = 2_000;
const INTERRUPTED_EVERY = 10;

it(`serves within ${SERVING_MS_MAX} ms of a start with ${COUNT} open workflows`, async () => {
  const place = mkdtempSync(join(tmpdir(), "agenttx-many-"));
  try {
    const world = orderWorld();
    await fill(place, world);
    const begun = performance.now();
    await using store = await openStore({ path: place });
    const openMs = performance.now() - begun;
    const engine = createEngine({ store, tools: world.tools });
    const recovery = createRecovery({ engine, store });
    const recovering = Promise.all([engine.recover(), recovery.resumeAll()]);
    const fresh = await recovery.workflows.start({ id: "fresh" });
    const outcome = await fresh.step("put", { key: "k", value: "v" });
    const servingMs = performance.now() - begun;
    const [engineReport, report] = await recovering;
    // What waits for its carrier is retried in the background; each goes on by itself then.
    const undone = () => world.carrier.undone.size === COUNT / INTERRUPTED_EVERY;
    while (!undone()) await new Promise((done) => setTimeout(done, 50));
    while ((await engine.unresolved({ limit: 1 })).length > 0) {
      await new Promise((done) => setTimeout(done, 50));
    }
    const settled = await recovery.resumeAll();
    const wholeMs = performance.now() - begun;
    process.stdout.write(
      `recovery: ${COUNT} open workflows, serving after ${Math.round(servingMs)} ms ` +
        `(opening the store ${Math.round(openMs)} ms), ` +
        `${report.found} interrupted ones recovered after ${Math.round(wholeMs)} ms\n`,
    );
    expect(outcome.status).toBe("SUCCESS");
    expect(servingMs).toBeLessThan(SERVING_MS_MAX);
    expect(engineReport).toMatchObject({ rolledBack: 0, problems: [] });
    expect([report.found, report.problems]).toEqual([COUNT / INTERRUPTED_EVERY, []]);
    expect([settled.waiting, settled.problems]).toEqual([[], []]);
    expect((await recovery.workflows.get("order-0")).revision).toBe(2);
    expect(world.carrier.standing().length).toBe(COUNT - COUNT / INTERRUPTED_EVERY);
    expect([...world.carrier.undone.values()].every((count) => count === 1)).toBe(true);
    await engine.close();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}, 600_000);

/** Open workflows, each with a booking; every tenth stopped in Reconciliation by its carrier. */
async function fill(place: string, world: OrderWorld): Promise<void> {
  await using store = await openStore({ path: place });
  const engine = createEngine({ store, tools: world.tools, effects: { inlineTries: 1 } });
  const recovery = createRecovery({ engine, store });
  for (let number = 0; number < COUNT; number += 1) {
    const id = `order-${number}`;
    const order = await recovery.workflows.start({ id });
    await order.step("carrier.book", { order: id });
    if (number % INTERRUPTED_EVERY !== 0) continue;
    world.carrier.mode = "unreachable";
    await recovery.freeze(id, { actor: "ops", reason: "exception" });
    const view = await recovery.apply(await recovery.plan(id), { actor: "ops" });
    expect(view.state).toBe("Reconciliation");
    world.carrier.mode = "healthy";
  }
  // No close of the engine: this process is killed, as far as the next one can tell.
}
