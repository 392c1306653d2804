// Goal: what an engine on RocksDB did with files, rows and a service is taken back exactly, after a
// late failure and after a death at any moment. Method: real files, SQLite and a service in its own
// process; the agent runs in a process that is killed.

import { join } from "node:path";
import { createEngine, type Engine, type ToolShape } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { fsTools } from "@agenttx/tools";
import { requireCertified } from "@agenttx/tools/adapter-kit";
import { sqlTools } from "@agenttx/tools/sql";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeWorld, startChild, type World } from "./world.js";

interface Plan {
  readonly adapterTools: (directory: string, origin: string) => readonly ToolShape[];
  readonly PLAN: readonly string[];
  readonly planArguments: (origin: string, item: string) => readonly Record<string, never>[];
}

// A script, so that the agent's own process can load it without a build.
const { adapterTools, PLAN, planArguments } = (await import(
  new URL("./children/plan.mjs", import.meta.url).href
)) as Plan;

type Store = Awaited<ReturnType<typeof openStore>>;

function create(store: Store, tools: readonly ToolShape[]): Engine {
  return createEngine({
    store,
    tools,
    policy: { maxLocalDepth: 0, maxGlobalResets: 2 },
    effects: { settlingMs: 100, backoffBaseMs: 10 },
  });
}

/** A fresh engine on what is on disk. */
async function engineOn(world: World): Promise<Engine> {
  const store = await openStore({ path: join(world.directory, "store") });
  const engine = create(store, adapterTools(world.directory, world.origin));
  onTestFinished(async () => {
    await engine.close();
    await store.close();
  });
  return engine;
}

async function runPlan(world: World, tx: Awaited<ReturnType<Engine["begin"]>>): Promise<void> {
  const args = planArguments(world.origin, "room");
  for (const [index, name] of PLAN.entries()) {
    const outcome = await tx.step(name, args[index] ?? {});
    expect(outcome, `step ${index + 1}`).toMatchObject({ status: "SUCCESS" });
  }
}

describe("files, rows and a service", () => {
  it("are as before after a late failure, and as planned after the second run", async () => {
    const world = await makeWorld();
    const before = await world.snapshot();
    const engine = await engineOn(world);
    const tx = await engine.begin();
    await runPlan(world, tx);
    expect(await world.snapshot()).not.toEqual(before);
    const failed = await tx.step("sql.exec", { sql: "INSERT INTO orders (id) VALUES (9)" });
    expect(failed).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
      strategy: "GLOBAL_RESET",
      hint: { category: "not_null_violation", key: "sku" },
    });
    expect(await engine.unresolved()).toEqual([]);
    expect(await world.snapshot()).toEqual(before);
    expect(await world.copies()).toEqual([]);

    await runPlan(world, tx);
    await tx.commit();
    const after = (await world.snapshot()) as Record<string, unknown>;
    expect(after).toMatchObject({
      stock: [{ sku: "cup", count: 8 }],
      orders: [{ id: 1, sku: "cup" }],
      bookings: [{ item: "room", status: "booked" }],
    });
    const effects = await engine.effects(tx.id);
    expect(
      effects.map(({ state }) => state).filter((state) => state === "compensated").length,
    ).toBe(7);
  });

  it("leave nothing behind once the sweep knows that a transaction has ended", async () => {
    const world = await makeWorld();
    const engine = await engineOn(world);
    const files = fsTools({ root: join(world.directory, "files") });
    const rows = sqlTools({ path: join(world.directory, "shop.db") });
    onTestFinished(() => rows.close());
    const isOpen = async (of: { transaction: string }): Promise<boolean> => {
      const { status } = await engine.get(of.transaction);
      return !["COMMITTED", "ROLLED_BACK", "FAILED"].includes(status);
    };
    const markers = (): unknown[] => world.rows("SELECT state FROM agenttx_effects");
    const [open, ended] = [await engine.begin(), await engine.begin()];
    await runPlan(world, ended);
    expect([await files.sweep(isOpen), await rows.sweep(isOpen)]).toEqual([0, 0]);
    expect([(await world.copies()).length, markers().length]).toEqual([1, 3]);
    await open.step("sql.exec", { sql: "UPDATE stock SET count = 0" });
    await ended.commit();
    expect([await files.sweep(isOpen), await rows.sweep(isOpen)]).toEqual([1, 3]);
    expect([await world.copies(), markers().length]).toEqual([[], 1]);
    await open.abort();
    expect(world.rows("SELECT count FROM stock WHERE sku = 'cup'")).toEqual([{ count: 8 }]);
  });

  it("are left alone where somebody else has changed them, and the rest is taken back", async () => {
    const world = await makeWorld();
    const engine = await engineOn(world);
    const tx = await engine.begin();
    await tx.step("sql.exec", { sql: "UPDATE stock SET count = 1 WHERE sku = 'cup'" });
    await tx.step("sql.exec", { sql: "UPDATE stock SET count = 1 WHERE sku = 'pot'" });
    world.rows("UPDATE stock SET count = 7 WHERE sku = 'cup' RETURNING 1");
    await tx.abort();
    expect(world.rows("SELECT sku, count FROM stock ORDER BY sku")).toEqual([
      { sku: "cup", count: 7 },
      { sku: "pot", count: 3 },
    ]);
    const [unresolved] = await engine.unresolved();
    expect(unresolved).toMatchObject({ tool: "sql.exec", waitsFor: "person" });
    expect(unresolved?.problem).toContain('"count":7');
  });

  it("come from tools that are certified, but for the service, which has to be trusted", async () => {
    const tools = adapterTools("/nowhere", "http://127.0.0.1:1").filter(
      ({ name }) => !name.startsWith("sql."),
    );
    expect(() => requireCertified(tools)).toThrow(/: http\.request\./);
    expect(requireCertified(tools, { trust: ["http.request"] })).toBe(tools);
  });
});

describe("a death", () => {
  const moments = PLAN.flatMap((_name, index) => [`begin ${index + 1}`, `done ${index + 1}`]);

  it.each(moments)("at '%s' is taken back exactly", async (moment) => {
    const world = await makeWorld();
    const before = await world.snapshot();
    const agent = startChild("agent.mjs", [world.directory, world.origin, "room"]);
    await agent.line(moment);
    agent.process.kill("SIGKILL");
    await agent.ended;
    const engine = await engineOn(world);
    const report = await engine.recover();
    expect(report).toMatchObject({ found: 1, rolledBack: 1, problems: [], unresolvedEffects: [] });
    expect(await world.snapshot()).toEqual(before);
    expect(await world.copies()).toEqual([]);
    expect(await engine.unresolved()).toEqual([]);
  });

  it("while the service has booked and not answered is found out and cancelled", async () => {
    const world = await makeWorld();
    const before = await world.snapshot();
    const agent = startChild("agent.mjs", [world.directory, world.origin, "hold this"]);
    await world.service.line("booked hold this");
    agent.process.kill("SIGKILL");
    await agent.ended;
    expect(await world.snapshot()).toMatchObject({ bookings: [{ item: "hold this" }] });
    const engine = await engineOn(world);
    expect(await engine.recover()).toMatchObject({ rolledBack: 1, unresolvedEffects: [] });
    expect(await world.snapshot()).toEqual(before);
  });
});
