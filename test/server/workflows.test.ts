// Goal: a workflow is begun, fenced, recovered and settled over the wire as it is embedded (C1-C6), over
// gRPC and HTTP. The owner outside is a map in this process: what stands in the end is read from it.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type AgentTxClient, createClient } from "@agenttx/client";
import { defineTool, type ToolShape } from "@agenttx/engine";
import type { UndoResult, WorkflowState } from "@agenttx/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ServerPlace } from "./server-process.js";
import { startTestServer, type TestServer } from "./test-server.js";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/agenttx.js", import.meta.url));
const booked = new Map<string, "booked" | "cancelled">();
let collected = false;
/** What a cancellation waits for. */
let held: Promise<void> = Promise.resolve();

const book = defineTool({
  name: "carrier.book",
  schema: z.object({ order: z.string() }),
  effect: "reversible",
  execute(_args, { idempotencyKey }) {
    booked.set(idempotencyKey, "booked");
    return { booking: booked.size };
  },
  async compensate(_call, { idempotencyKey }): Promise<UndoResult> {
    await held;
    if (collected) return { status: "dirty", expected: "booked", found: "collected" };
    booked.set(idempotencyKey, "cancelled");
    return { status: "undone" };
  },
}) as unknown as ToolShape;

let at: TestServer;
let client: AgentTxClient;

beforeEach(async () => {
  booked.clear();
  collected = false;
  held = Promise.resolve();
  at = await startTestServer({}, [book]);
  client = createClient({ address: at.address });
});
afterEach(async () => {
  await client.close();
  await at.remove();
});

/** Two steps with a checkpoint between them: the exception comes after the second. */
async function untilTheException(id: string) {
  const order = await client.recovery.workflows.start({ id, name: "Order", owner: "worker-1" });
  expect((await order.step("kv.put", { key: `${id}/stock`, value: 1 })).status).toBe("SUCCESS");
  expect(await order.checkpoint("reserved")).toMatchObject({ step: 1, validated: true });
  expect((await order.step("carrier.book", { order: id })).status).toBe("SUCCESS");
  return order;
}

const BY = { actor: "ops", reason: "warehouse exception" };

describe("recovery over the wire", () => {
  it("goes back to the checkpoint, cancels what came after it, and commits a new revision", async () => {
    const first = await untilTheException("A-1");
    const { recovery } = client;
    expect(await recovery.freeze("A-1", BY)).toMatchObject({ state: "Frozen", revision: 1 });
    const plan = await recovery.plan("A-1");
    expect(plan.undo.map(({ tool }) => tool)).toEqual(["carrier.book"]);
    expect(plan.checkpoint).toMatchObject({ revision: 1, step: 1, name: "reserved" });
    expect([...booked.values()]).toEqual(["booked"]);
    const view = await recovery.apply(plan, { actor: "ops" });
    expect(view).toMatchObject({ state: "Running", revision: 2 });
    expect([...booked.values()]).toEqual(["cancelled"]);
    // The same plan again is harmless: it was carried out, and the answer may have been lost.
    expect(await recovery.apply(plan, { actor: "ops" })).toEqual(view);
    expect(view.revisions.map(({ planDigest }) => planDigest)).toEqual([null, plan.digest]);
    await expect(first.step("carrier.book", { order: "late" })).rejects.toMatchObject({
      code: expect.stringMatching(/STALE_OWNER|TRANSACTION_FROZEN|TRANSACTION_ENDED/),
    });
    const second = await recovery.workflows.open("A-1");
    expect(second.transaction.nextStep).toBe(1);
    await second.step("carrier.book", { order: "A-1" });
    const committed = await second.commit();
    expect(committed).toMatchObject({ status: "COMMITTED", stepsCommitted: 1 });
    expect(await second.commit()).toEqual(committed);
    expect(await recovery.apply(plan, { actor: "ops" })).toMatchObject({ revision: 2 });
    expect([...booked.values()]).toEqual(["cancelled", "booked"]);
    expect(await recovery.workflows.get("A-1")).toMatchObject({ transactionStatus: "COMMITTED" });
    expect((await recovery.replay("A-1")).effects).toBeDefined();
    expect((await recovery.workflows.list()).map(({ id }) => id)).toEqual(["A-1"]);
    const { revisions } = await recovery.explain("A-1");
    expect(
      revisions.map(({ revision, history }) => [
        revision,
        history.flatMap((one) => (one.kind === "workflow" ? [one.event] : [])),
      ]),
    ).toEqual([
      [1, ["started", "checkpoint", "frozen", "classified", "compensated"]],
      [2, ["resumed", "finished"]],
    ]);
    const chain = await fetch(`${at.httpUrl}/v1/workflows/A-1/audit`);
    const entries = (await chain.text())
      .split("\n")
      .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    expect(new Set(entries.map(({ revision }) => revision))).toEqual(new Set([1, 2]));
    expect(entries.every(({ hash }) => Buffer.from(hash, "base64").length === 32)).toBe(true);
  });

  it("shows how far it is while it runs, and answers a caller that comes again", async () => {
    const order = await untilTheException("A-6");
    await order.step("carrier.book", { order: "second" });
    const { recovery } = client;
    await recovery.freeze("A-6", BY);
    const plan = await recovery.plan("A-6");
    let letGo = () => {};
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    const impatient = createClient({ address: at.address, transport: "unary", deadlineMs: 300 });
    try {
      const late = impatient.recovery.apply(plan, { actor: "ops" });
      await expect(late).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const stop = new AbortController();
      const stopped = recovery.apply(plan, { actor: "ops", signal: stop.signal });
      stop.abort();
      await expect(stopped).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
      // The newest one is being undone; the one before it was not tried yet.
      expect(await recovery.workflows.get("A-6")).toMatchObject({
        state: "Compensating",
        recovery: { untried: [plan.undo[1]?.effectId, plan.undo[0]?.effectId] },
      });
      expect((await recovery.workflows.list({ states: ["Compensating"] })).length).toBe(1);
      const again = recovery.apply(plan, { actor: "ops" });
      letGo();
      expect(await again).toMatchObject({ state: "Running", revision: 2 });
      expect([...booked.values()]).toEqual(["cancelled", "cancelled"]);
    } finally {
      letGo();
      await impatient.close();
    }
  });

  it("lists by state, and what is open in pages", async () => {
    const order = await untilTheException("A-7");
    await order.step("carrier.book", { order: "second" });
    await untilTheException("A-8");
    collected = true;
    const { recovery } = client;
    await recovery.freeze("A-7", BY);
    await recovery.apply(await recovery.plan("A-7"), { actor: "ops" });
    const ids = async (...states: WorkflowState[]) =>
      (await recovery.workflows.list({ states })).map(({ id }) => id);
    expect(await ids("Reconciliation")).toEqual(["A-7"]);
    expect(await ids("Frozen", "Recovered")).toEqual([]);
    expect(await ids("Running")).toEqual(["A-8"]);
    expect(await ids("Running", "Reconciliation")).toEqual(["A-7", "A-8"]);
    const url = `${at.httpUrl}/v1/reconciliation?workflowId=A-7&pageSize=1`;
    interface Page {
      readonly items: readonly { readonly effect: { readonly effectId: string } }[];
      readonly nextPageToken?: string;
    }
    // Read by the expectations below.
    const page = async (from: string) => (await (await fetch(from)).json()) as Page;
    const first = await page(url);
    expect(first.items).toHaveLength(1);
    const second = await page(`${url}&pageToken=${first.nextPageToken}`);
    expect(second.nextPageToken ?? "").toBe("");
    expect(second.items[0]?.effect.effectId).not.toBe(first.items[0]?.effect.effectId);
    const foreign = `${at.httpUrl}/v1/reconciliation?workflowId=A-8&pageToken=${first.nextPageToken}`;
    expect((await fetch(foreign)).status).toBe(400);
    expect((await fetch(`${at.httpUrl}/v1/workflows?states=running`)).status).toBe(400);
    const all = await recovery.reconciliation.list("A-7");
    expect(all.map(({ effect }) => effect.effectId)).toHaveLength(2);
    await expect(recovery.workflows.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED_BY_SIGNAL",
    });
  });

  it("sends a collected parcel to a person, and goes on by itself when it is resolved", async () => {
    await untilTheException("A-2");
    collected = true;
    const { recovery } = client;
    await recovery.freeze("A-2", BY);
    const view = await recovery.apply(await recovery.plan("A-2"), { actor: "ops" });
    expect(view.state).toBe("Reconciliation");
    const [item, ...others] = await recovery.reconciliation.list("A-2");
    expect(others).toEqual([]);
    expect(item).toMatchObject({ workflow: "A-2", revision: 1 });
    expect(item?.effect).toMatchObject({ state: "unresolved", waitsFor: "person" });
    expect(item?.evidence.map(({ event }) => event)).toEqual(["request", "compensate", "give-up"]);
    await recovery.reconciliation.resolve(item?.effect.effectId ?? "", {
      kind: "accepted-as-is",
      actor: "ada",
      note: "delivered",
    });
    await expect
      .poll(async () => (await recovery.workflows.get("A-2")).state, { timeout: 5_000 })
      .toBe("Running");
    expect([...booked.values()]).toEqual(["booked"]);
  });

  it("refuses a plan whose basis has changed, and changes nothing", async () => {
    const order = await untilTheException("A-3");
    const { recovery } = client;
    await expect(
      recovery.apply(await recovery.plan("A-3"), { actor: "ops" }),
    ).rejects.toMatchObject({ code: "WORKFLOW_STATE" });
    const old = await recovery.plan("A-3");
    await order.step("carrier.book", { order: "one more" });
    await recovery.freeze("A-3", BY);
    await expect(recovery.apply(old, { actor: "ops" })).rejects.toMatchObject({
      code: "PLAN_CHANGED",
    });
    expect([...booked.values()]).toEqual(["booked", "booked"]);
    const held = await recovery.apply(await recovery.plan("A-3"), { actor: "ops", resume: false });
    expect(held.state).toBe("Recovered");
    expect(await recovery.resume("A-3", { actor: "ops" })).toMatchObject({ state: "Running" });
  });

  it("is seen in the metrics while it waits, and how long it took afterwards", async () => {
    const scrape = async () => (await fetch(`${at.httpUrl}/metrics`)).text();
    await untilTheException("A-5");
    await client.recovery.freeze("A-5", BY);
    const frozen = 'agenttx_workflows_in_recovery{state="Frozen"} ';
    await expect.poll(scrape, { timeout: 12_000, interval: 500 }).toContain(`${frozen}1`);
    await client.recovery.apply(await client.recovery.plan("A-5"), { actor: "ops" });
    expect(await scrape()).toContain("agenttx_workflow_recovery_duration_seconds_count 1");
    await expect.poll(scrape, { timeout: 12_000, interval: 500 }).toContain(`${frozen}0`);
  }, 40_000);

  it("goes on after a restart of the server", async () => {
    await untilTheException("A-4");
    await client.recovery.freeze("A-4", BY);
    const plan = await client.recovery.plan("A-4");
    at = await at.restart();
    await client.close();
    client = createClient({ address: at.address });
    expect(await client.recovery.apply(plan, { actor: "ops" })).toMatchObject({ state: "Running" });
    expect([...booked.values()]).toEqual(["cancelled"]);
  });
});

describe("ownership over the wire (C3)", () => {
  it("refuses the owner before in every call that writes", async () => {
    const old = await untilTheException("B-1");
    const mine = await client.recovery.workflows.acquireOwnership("B-1", "worker-2");
    expect(mine.fencingToken).toBeGreaterThan(old.fencingToken);
    const tx = old.transaction;
    for (const write of [
      () => old.step("kv.put", { key: "late", value: 1 }),
      () => tx.reportFailure(1, { text: "late" }),
      () => tx.rollback(1),
      () => tx.commit(),
      () => tx.abort(),
      () => old.checkpoint("late"),
      () => old.commit(),
      () =>
        tx.runLocal({ name: "local", effect: "read-only", execute: () => "never" } as never, {}),
    ]) {
      await expect(write()).rejects.toMatchObject({ code: "STALE_OWNER" });
    }
    expect((await mine.step("kv.put", { key: "mine", value: 1 })).status).toBe("SUCCESS");
    await expect(
      client.recovery.workflows.open("B-1", { fencingToken: old.fencingToken }),
    ).rejects.toMatchObject({ code: "STALE_OWNER" });
  });

  it("answers the same start with the workflow that is there", async () => {
    const one = await client.recovery.workflows.start({ id: "B-2" });
    await one.step("kv.put", { key: "b2", value: 1 });
    const again = await client.recovery.workflows.start({ id: "B-2" });
    expect(again.transaction.id).toBe(one.transaction.id);
    expect(again.transaction.nextStep).toBe(2);
  });

  it.each([
    ["getWorkflow", { workflowId: "" }],
    ["getWorkflow", { workflowId: "x".repeat(129) }],
    ["acquireOwnership", { workflowId: "B-3", owner: "" }],
    ["commitWorkflow", { workflowId: "B-3", fencingToken: "0" }],
    ["takeCheckpoint", { workflowId: "B-3", fencingToken: "1", name: "" }],
    ["applyRecovery", { workflowId: "B-3", digest: "d" }],
    ["applyRecovery", { workflowId: "B-3", checkpoint: { revision: 1, stepId: 0 } }],
    ["startWorkflow", { workflowId: "with space" }],
  ])("refuses %s of %j, over HTTP", async (call, body) => {
    const paths: Record<string, string> = {
      acquireOwnership: "owner",
      commitWorkflow: "commit",
      takeCheckpoint: "checkpoints",
      applyRecovery: "apply",
    };
    const { workflowId, ...rest } = body;
    const inPath = `${at.httpUrl}/v1/workflows/${workflowId}/${paths[call] ?? ""}`;
    const response =
      call === "getWorkflow"
        ? await fetch(`${at.httpUrl}/v1/workflows/${workflowId}`)
        : await fetch(call === "startWorkflow" ? `${at.httpUrl}/v1/workflows` : inPath, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(call === "startWorkflow" ? body : rest),
          });
    // An empty id in the path is the list.
    expect(response.status).toBe(workflowId === "" ? 404 : 400);
  });
});

it("walks the same way over HTTP", async () => {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${at.httpUrl}/v1/workflows${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    // Read by the expectations below.
    return { status: response.status, body: (await response.json()) as never };
  };
  const { body: started } = (await post("", { workflowId: "C-1", owner: "curl" })) as {
    body: { workflow: { transactionId: string; fencingToken: string } };
  };
  const { transactionId, fencingToken } = started.workflow;
  const step = await fetch(`${at.httpUrl}/v1/transactions/${transactionId}/steps`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      stepId: 1,
      toolName: "carrier.book",
      argumentsJson: '{"order":"C-1"}',
      fencingToken,
    }),
  });
  expect(await step.json()).toMatchObject({ status: "STEP_STATUS_SUCCESS" });
  expect((await post("/C-1/freeze", BY)).body).toMatchObject({ workflow: { state: "Frozen" } });
  const plan = (await post("/C-1/plan", {})).body as {
    checkpoint: object;
    digest: string;
    undoEffects: string[];
  };
  expect(plan.undoEffects).toEqual([`${transactionId}/1`]);
  const { checkpoint, digest } = plan;
  expect((await post("/C-1/apply", { checkpoint, digest, actor: "ops" })).body).toMatchObject({
    workflow: { state: "Running", revision: 2 },
  });
  expect([...booked.values()]).toEqual(["cancelled"]);
});

it("counts the transactions of its workflows as open while they are, and not longer", async () => {
  await at.remove();
  await client.close();
  at = await startTestServer({ openTransactionsMax: 3 }, [book]);
  client = createClient({ address: at.address });
  // Each order needs two: the revision that is taken back, and the next one. None may be left over.
  for (let number = 0; number < 6; number += 1) {
    await untilTheException(`E-${number}`);
    await client.recovery.freeze(`E-${number}`, BY);
    await client.recovery.apply(await client.recovery.plan(`E-${number}`), { actor: "ops" });
    await (await client.recovery.workflows.open(`E-${number}`)).commit();
  }
  const { workflows } = client.recovery;
  const open = [await workflows.start(), await workflows.start(), await workflows.start()];
  await expect(client.begin()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  await expect(workflows.start()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  for (const workflow of open) await workflow.commit();
  await (await client.begin()).abort();
}, 60_000);

it("is operated with the command line, as a data directory is", async () => {
  await untilTheException("D-1");
  collected = true;
  const agenttx = async (...args: readonly string[]) => {
    const all = [CLI, ...args, "--server", at.address, "--json"];
    const run = promisify(execFile)(process.execPath, all, { env: { PATH: process.env.PATH } });
    const { code, stdout, stderr } = await run.then(
      (said) => ({ ...said, code: 0 }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    // Read by the expectations below.
    return { code, stderr, said: JSON.parse(stdout || "null") as never };
  };
  const file = join(at.root, "plan.json");
  const by = ["--actor", "ada"];
  expect((await agenttx("workflows")).said).toMatchObject([{ id: "D-1", state: "Running" }]);
  const frozen = await agenttx("freeze", "D-1", ...by, "--reason", "exception");
  expect(frozen).toMatchObject({ code: 0, said: { state: "Frozen" } });
  expect(await agenttx("plan", "D-1", "--out", file)).toMatchObject({
    code: 0,
    said: { plan: { undo: [{ tool: "carrier.book" }] } },
  });
  expect(await agenttx("apply", file, ...by)).toMatchObject({
    code: 6,
    said: { state: "Reconciliation" },
  });
  const { said: items } = await agenttx("reconcile", "list");
  expect(items).toMatchObject([{ workflow: "D-1", effect: { waitsFor: "person" } }]);
  const [{ effect }] = items as [{ effect: { effectId: string } }];
  const resolve = ["reconcile", "resolve", effect.effectId, ...by, "--note", "delivered"];
  expect((await agenttx(...resolve, "--kind", "accepted-as-is")).code).toBe(0);
  const replay = await agenttx("replay", "D-1");
  expect(replay).toMatchObject({ code: 0, said: { consistent: true } });
  expect(await agenttx("resume")).toMatchObject({ code: 2 });
  const told = await agenttx("explain", "D-1");
  expect(told).toMatchObject({ code: 0, said: { type: "explain-workflow", workflow: "D-1" } });
  const { revisions } = told.said as { revisions: { transaction: string; history: unknown[] }[] };
  expect(revisions.map(({ history }) => history.length > 0)).toEqual([true, true]);
  const one = await agenttx("explain", revisions[0]?.transaction ?? "");
  expect(one).toMatchObject({ code: 0, said: { entries: revisions[0]?.history } });
  expect(await agenttx("explain", "none")).toMatchObject({ code: 3 });
}, 60_000);

it("goes on by itself after a kill -9 in the middle of an apply, and undoes each effect once", async () => {
  const place = await ServerPlace.make();
  let server = await place.start();
  const remote = createClient({ address: place.address });
  const EFFECTS = 60;
  try {
    const flow = await remote.recovery.workflows.start({ id: "K-1" });
    for (let number = 0; number < EFFECTS; number += 1) {
      const done = await flow.step("effect.do", { text: `e${number}` });
      expect(done.status).toBe("SUCCESS");
    }
    await remote.recovery.freeze("K-1", BY);
    const plan = await remote.recovery.plan("K-1", { checkpoint: "start" });
    expect(plan.undo).toHaveLength(EFFECTS);
    const undone = () => place.effects().filter((line) => line.startsWith("undo ")).length;
    // Its answer is lost with the server: a repeat would be harmless, and nobody sends one here.
    const lost = remote.recovery.apply(plan, { actor: "ops" }).catch(() => undefined);
    await expect.poll(undone, { timeout: 10_000, interval: 1 }).toBeGreaterThan(0);
    server.child.kill("SIGKILL");
    await server.ended;
    const before = undone();
    server = await place.start();
    await expect
      .poll(() => remote.recovery.workflows.get("K-1"), { timeout: 20_000 })
      .toMatchObject({ state: "Running", revision: 2 });
    await lost;
    const keys = (what: string) =>
      place.effects().flatMap((line) => (line.startsWith(what) ? [line.split(" ")[1]] : []));
    expect(new Set(keys("undo "))).toEqual(new Set(keys("do ")));
    // The one whose confirmation died with the process is asked again, under its key.
    expect(undone()).toBeLessThanOrEqual(EFFECTS + 1);
    expect(before).toBeLessThan(EFFECTS);
  } finally {
    await remote.close();
    await place.remove();
  }
}, 60_000);
