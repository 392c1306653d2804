// Goal: a start with very many open workflows serves at once, while their recoveries go on behind
// it, as fast as the store allows and not as slowly as the process before meant to wait. Method: a
// store on disk with open workflows, every tenth of them in the middle of a recovery, its next try
// minutes away; 1,000 of them here, 10,000 with AGENTTX_LONG=1. Times are of this machine and printed.
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
/** A tenth of what an idle machine does; one that waits for a timer has far less. */
const RECOVERED_PER_SECOND_MIN = 20;
const NEXT_TRY_MS = 300_000;
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
    while (!undone()) await new Promise((done) => setTimeout(done, 20));
    const inRecovery = async () => {
      const { states } = await recovery.attention({ limit: COUNT });
      return Object.values(states).reduce((sum, { count }) => sum + count, 0);
    };
    while ((await inRecovery()) > 0) await new Promise((done) => setTimeout(done, 20));
    const wholeMs = performance.now() - begun;
    const perSecond = (report.found / wholeMs) * 1_000;
    const settled = await recovery.resumeAll();
    process.stdout.write(
      `recovery: ${COUNT} open workflows, serving after ${Math.round(servingMs)} ms ` +
        `(opening the store ${Math.round(openMs)} ms), ` +
        `${report.found} interrupted ones recovered after ${Math.round(wholeMs)} ms, ` +
        `${Math.round(perSecond)} per second\n`,
    );
    expect(outcome.status).toBe("SUCCESS");
    expect(servingMs).toBeLessThan(SERVING_MS_MAX);
    expect(engineReport).toMatchObject({ rolledBack: 0, problems: [] });
    expect([report.found, report.problems]).toEqual([COUNT / INTERRUPTED_EVERY, []]);
    expect(perSecond).toBeGreaterThan(RECOVERED_PER_SECOND_MIN);
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
  const effects = { inlineTries: 1, backoffBaseMs: NEXT_TRY_MS };
  const engine = createEngine({ store, tools: world.tools, effects });
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
