// Goal: a data directory that an earlier version left opens, and its workflows go on. Method: the
// committed directory of format 1 (fixtures/make-data.mjs) is copied and taken up.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEngine, type ToolShape } from "@agenttx/engine";
import { createRecovery, type RecoveryOptions } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { expect, it } from "vitest";

const DATA = fileURLToPath(new URL("./fixtures/data-v1", import.meta.url));
const TOOLS = fileURLToPath(new URL("./fixtures/order-tools.mjs", import.meta.url));

it("opens data of format 1 and goes on with each of its workflows", async () => {
  const place = mkdtempSync(join(tmpdir(), "agenttx-old-"));
  const world = join(place, "world");
  try {
    mkdirSync(world);
    process.env.ORDER_WORLD = world;
    cpSync(DATA, join(place, "data"), { recursive: true });
    await using store = await openStore({ path: join(place, "data") });
    const { engine, recovery } = await takeUp(store);
    const states = async () =>
      (await recovery.workflows.list()).map((view) => {
        return `${view.id} ${view.state} ${view.revision} ${view.transactionStatus}`;
      });
    expect(await states()).toEqual([
      "committed Running 2 COMMITTED",
      "interrupted Running 1 ACTIVE",
      "running Running 1 ACTIVE",
      "waiting Reconciliation 1 FROZEN",
    ]);
    expect(await engine.recover()).toMatchObject({ rolledBack: 0, problems: [] });
    expect((await recovery.resumeAll()).problems).toEqual([]);

    // Its carrier is back: the retry works in the background, and the workflow goes on by itself.
    const waiting = async () => (await recovery.workflows.get("waiting")).state;
    while ((await waiting()) !== "Running") await new Promise((done) => setTimeout(done, 20));

    await recovery.freeze("running", { actor: "ada", reason: "exception" });
    const plan = await recovery.plan("running");
    expect([plan.checkpoint.name, plan.undo.map(({ tool }) => tool)]).toEqual([
      "reserved",
      ["carrier.book"],
    ]);
    await recovery.apply(plan, { actor: "ada" });

    const interrupted = await recovery.workflows.open("interrupted");
    expect(interrupted.transaction.nextStep).toBe(2);
    await interrupted.commit();
    expect(await states()).toEqual([
      "committed Running 2 COMMITTED",
      "interrupted Running 1 COMMITTED",
      "running Running 2 ACTIVE",
      "waiting Running 2 ACTIVE",
    ]);
    expect((await recovery.replay("waiting")).consistent).toBe(true);
    await engine.close();
  } finally {
    delete process.env.ORDER_WORLD;
    rmSync(place, { recursive: true, force: true });
  }
});

it("leaves a workflow record of a newer version as it is, and names it", async () => {
  const place = mkdtempSync(join(tmpdir(), "agenttx-new-"));
  try {
    cpSync(DATA, join(place, "data"), { recursive: true });
    await using store = await openStore({ path: join(place, "data") });
    const name = "flow/running";
    const old = await store.readRecord("", { space: "meta", name });
    const text = Buffer.from(old ?? []).toString("utf8");
    const newer = Buffer.from(text.replace(/"v":1\b/, '"v":2'));
    await store.writeRecords("", { records: [{ space: "meta", name, value: newer }] });
    const { engine, recovery } = await takeUp(store);
    const refused = { code: "FORMAT_TOO_NEW" };
    await expect(recovery.workflows.get("running")).rejects.toMatchObject(refused);
    await expect(recovery.freeze("running", { actor: "ada", reason: "x" })).rejects.toMatchObject(
      refused,
    );
    const kept = await store.readRecord("", { space: "meta", name });
    expect(Buffer.from(kept ?? []).equals(newer)).toBe(true);
    await engine.close();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

async function takeUp(store: Awaited<ReturnType<typeof openStore>>) {
  const module = (await import(TOOLS)) as {
    tools: readonly ToolShape[];
    recovery: Pick<RecoveryOptions, "invariants">;
  };
  const book = module.tools.find(({ name }) => name === "carrier.book");
  // The carrier that was away when the data was made is back; the silent one answers look-ups.
  const back = ["carrier.away", "carrier.silent"].map((name) => ({ ...book, name }) as ToolShape);
  const tools: readonly ToolShape[] = [...module.tools, ...back];
  const engine = createEngine({ store, tools });
  return { engine, recovery: createRecovery({ ...module.recovery, engine, store }) };
}
