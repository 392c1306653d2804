// Goal: tools that live in the client's process are as safe as the server's own: intent before, result
// after, undone by a worker, also after the client or the server is gone. Method: our client for the
// usual way, raw calls for what a client of ours would not do.

import { join } from "node:path";
import { type AgentTxClient, createClient, DefiniteFailure, type LocalTool } from "@agenttx/client";
import { defineTool } from "@agenttx/engine";
import { createToken } from "@agenttx/server";
import { openStore } from "@agenttx/storage";
import type { work } from "@agenttx/wire";
import { agentTxService, steps } from "@agenttx/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { RawClient } from "./raw-calls.js";
import { startTestServer, type TestServer, testRoot } from "./test-server.js";

/** A carrier somewhere: parcels by idempotency key. */
const parcels = new Map<string, string>();
let executed = 0;

const ship = defineTool({
  name: "parcel.ship",
  schema: z.object({ to: z.string() }),
  effect: "reversible",
  execute: ({ to }, { idempotencyKey, state }) => {
    executed += 1;
    parcels.set(idempotencyKey, to);
    // Where kv.get looks for the key "last".
    state.put("k/last", Buffer.from(JSON.stringify(to)));
    return { parcel: to };
  },
  compensate: (_call, { idempotencyKey }) => {
    parcels.delete(idempotencyKey);
  },
  lookup: ({ idempotencyKey }) => {
    const to = parcels.get(idempotencyKey);
    return to === undefined
      ? { status: "absent" as const, final: true }
      : { status: "landed" as const, output: { parcel: to } };
  },
  verify: (_call, { idempotencyKey }) => !parcels.has(idempotencyKey),
});

let at: TestServer;
let client: AgentTxClient;
beforeEach(async () => {
  parcels.clear();
  executed = 0;
  at = await startTestServer();
  client = createClient({ address: at.address });
});
afterEach(async () => {
  await client.close();
  await at.remove();
});

async function listening(tools: readonly LocalTool[], workerId?: string) {
  const worker = client.serve(workerId === undefined ? { tools } : { tools, workerId });
  await worker.connected;
  return worker;
}

describe("a step whose tool runs in the client", () => {
  it("gets resolved arguments, writes state with the step, and is undone by a worker", async () => {
    await listening([ship]);
    const tx = await client.begin();
    await tx.step("kv.put", { key: "who", value: "Ann" });
    await tx.step("kv.get", { key: "who" });
    const sent = await tx.runLocal(ship, { to: `${"$"}{steps.2.value}` });
    expect(sent).toMatchObject({ status: "SUCCESS", step: 3, output: { parcel: "Ann" } });
    expect([...parcels.values()]).toEqual(["Ann"]);
    expect(await tx.step("kv.get", { key: "last" })).toMatchObject({ output: { value: "Ann" } });
    expect(await tx.rollback(3)).toMatchObject({ rolledBack: true, compensationsRun: 1 });
    expect(parcels.size).toBe(0);
    const again = await tx.runLocal(ship, { to: "Bea" });
    expect(again).toMatchObject({ status: "SUCCESS", step: 3 });
    await tx.commit();
    expect([...parcels.values()]).toEqual(["Bea"]);
    const told = await tx.history();
    expect(
      told.filter(({ kind }) => kind === "step").map(({ undoneBy }) => undoneBy === null),
    ).toEqual([true, true, false, false, true]);
  });

  it("fails like any other: arguments, errors, and failures that did nothing", async () => {
    await listening([ship]);
    const tx = await client.begin();
    const wrong = await tx.runLocal(ship, { to: 7 });
    expect(wrong).toMatchObject({ status: "ROLLBACK_TRIGGERED", hint: { key: "to" } });
    expect(executed).toBe(0);
    const broken: LocalTool = {
      ...ship,
      execute: () => {
        throw new DefiniteFailure("409 duplicate key value violates unique constraint (to)");
      },
    };
    expect((await tx.runLocal(broken, { to: "x" })).status).toBe("ROLLBACK_TRIGGERED");
    const effects = await client.effects(tx.id);
    expect(effects.map(({ state }) => state)).not.toContain("unresolved");
    await tx.abort();
  });

  it("takes its registered undo back too, newest first", async () => {
    const undone: unknown[] = [];
    const parts = defineTool({
      name: "parts",
      schema: z.object({}),
      effect: "reversible",
      undo: {
        remove: (args) => {
          undone.push(args);
        },
      },
      execute: async (_args, { registerUndo }) => {
        await registerUndo("remove", { part: 1 });
        await registerUndo("remove", { part: 2 });
        throw new Error("the third part is missing");
      },
    });
    await listening([parts]);
    const tx = await client.begin();
    expect((await tx.runLocal(parts, {})).status).toBe("ROLLBACK_TRIGGERED");
    expect(undone).toEqual([{ part: 2 }, { part: 1 }]);
    await tx.abort();
  });

  it("stages what is irreversible; a worker sends it after the commit", async () => {
    const sent: string[] = [];
    const mail = defineTool({
      name: "mail.send",
      schema: z.object({ text: z.string() }),
      effect: "irreversible",
      execute: ({ text }) => {
        sent.push(text);
        return { sent: true };
      },
    });
    await listening([mail]);
    const tx = await client.begin();
    expect((await tx.runLocal(mail, { text: "hello" })).status).toBe("SUCCESS");
    expect(sent).toEqual([]);
    expect((await tx.commit()).effectsDispatched).toBe(1);
    expect(sent).toEqual(["hello"]);
  });
});

describe("without a worker", () => {
  it("compensation waits, is visible, and goes on when a worker connects", async () => {
    const tx = await client.begin();
    await tx.runLocal(ship, { to: "Ann" });
    const ended = await tx.abort();
    expect(ended.rolledBack).toBe(false);
    expect(await client.unresolved()).toMatchObject([
      { tool: "remote:reversible:parcel.ship", waitsFor: "tool" },
    ]);
    expect(parcels.size).toBe(1);
    await listening([ship]);
    await expect.poll(() => parcels.size, { timeout: 15_000 }).toBe(0);
    await expect.poll(async () => (await client.unresolved()).length).toBe(0);
  }, 30_000);

  it("also over a restart of the server", async () => {
    const tx = await client.begin();
    await tx.runLocal(ship, { to: "Ann" });
    await client.close();
    at = await at.restart();
    client = createClient({ address: at.address });
    const again = await client.resume(tx.id);
    expect(again.nextStep).toBe(2);
    await listening([ship]);
    expect((await again.abort()).rolledBack).toBe(true);
    expect(parcels.size).toBe(0);
  });
});

describe("workers", () => {
  const pull = (raw: RawClient, workerId: string, toolNames = ["parcel.ship"]) => {
    const { path, requestSerialize, responseDeserialize } = agentTxService.pullWork;
    const request = { toolNames, inFlightMax: 1, workerId };
    const stream = raw.channel.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      raw.metadata(),
    );
    stream.on("error", () => {});
    return stream;
  };
  const firstItem = (stream: ReturnType<typeof pull>) =>
    new Promise<work.PullWorkResponse>((resolve) => stream.once("data", resolve));

  it("that die give their work to another, and their late answer changes nothing", async () => {
    const [dying, living] = [new RawClient(at.address), new RawClient(at.address)];
    const first = pull(dying, "dying");
    const taken = firstItem(first);
    await new Promise((resolve) => first.once("metadata", resolve));
    const tx = await client.begin();
    await tx.runLocal(ship, { to: "Ann" });
    const aborted = tx.abort();
    const item = await taken;
    expect(item).toMatchObject({ kind: "compensate", toolName: "parcel.ship", stepId: 1 });
    first.cancel();
    await listening([ship]);
    expect((await aborted).rolledBack).toBe(true);
    const late = { workId: item.workId, workerId: "dying", outputJson: "", message: "" };
    const answer = await living.call("completeWork", { ...late, status: "undone" });
    expect(answer).toMatchObject({ code: "OK", answer: { accepted: false } });
    for (const raw of [dying, living]) raw.close();
  });

  it("are refused a word that is no answer to this work, and keep the item", async () => {
    const raw = new RawClient(at.address);
    const stream = pull(raw, "w");
    const taken = firstItem(stream);
    await new Promise((resolve) => stream.once("metadata", resolve));
    const tx = await client.begin();
    await tx.runLocal(ship, { to: "Ann" });
    const aborted = tx.abort();
    const { workId } = await taken;
    const base = { workId, workerId: "w", outputJson: "", message: "" };
    for (const status of ["gone", "delivered", "", "fine"]) {
      const { code } = await raw.call("completeWork", { ...base, status });
      expect(code).toBe("INVALID_ARGUMENT");
    }
    const verify = new Promise<work.PullWorkResponse>((resolve) => stream.once("data", resolve));
    expect(await raw.call("completeWork", { ...base, status: "undone" })).toMatchObject({
      answer: { accepted: true },
    });
    const asked = await verify;
    expect(asked.kind).toBe("verify");
    await raw.call("completeWork", { ...base, workId: asked.workId, status: "gone" });
    expect((await aborted).rolledBack).toBe(true);
    stream.cancel();
    raw.close();
  });
});

describe("raw prepare and complete", () => {
  const prepareRequest = (transactionId: string, requestId: string) =>
    steps.PrepareStepRequest.fromPartial({
      transactionId,
      stepId: 1,
      toolName: "parcel.ship",
      argumentsJson: '{"to":"Ann"}',
      requestId,
      effectClass: "reversible",
    });
  const completeRequest = (transactionId: string, attempt: bigint) =>
    steps.CompleteStepRequest.fromPartial({
      transactionId,
      stepId: 1,
      attempt,
      result: { $case: "outputJson", value: '{"parcel":"Ann"}' },
    });

  it("joins a repeated prepare while it runs, and gives its outcome afterwards", async () => {
    const raw = new RawClient(at.address);
    const { id } = await client.begin();
    const first = await raw.call("prepareStep", prepareRequest(id, "r"));
    const second = await raw.call("prepareStep", prepareRequest(id, "r"));
    expect(second.answer).toEqual(first.answer);
    expect((await raw.call("prepareStep", prepareRequest(id, "s"))).code).toBe("STEP_IN_PROGRESS");
    const { attempt } = first.answer as steps.PrepareStepResponse;
    const done = await raw.call("completeStep", completeRequest(id, attempt));
    expect(done.answer).toMatchObject({ outcome: { status: 1, nextStepId: 2 } });
    const repeated = await raw.call("completeStep", completeRequest(id, attempt));
    expect(repeated.answer).toEqual(done.answer);
    const late = await raw.call("prepareStep", prepareRequest(id, "r"));
    expect(late.answer).toMatchObject({ outcome: { outputJson: '{"parcel":"Ann"}' }, attempt: 0n });
    raw.close();
  });

  it("refuses a completion that is late or malformed; what it says is not applied", async () => {
    await at.remove();
    at = await startTestServer({ remoteDeadlineMs: 300 });
    await client.close();
    client = createClient({ address: at.address });
    await listening([ship]);
    const raw = new RawClient(at.address);
    const { id } = await client.begin();
    const { answer } = await raw.call("prepareStep", prepareRequest(id, "r"));
    const { attempt } = answer as steps.PrepareStepResponse;
    const good = completeRequest(id, attempt);
    const malformed = [
      { ...good, result: undefined },
      { ...good, result: { $case: "outputJson", value: "{" } },
      { ...good, writes: [{ key: Buffer.alloc(0), value: undefined }] },
      { ...good, writes: [{ key: Buffer.alloc(5_000), value: undefined }] },
    ];
    for (const request of malformed) {
      expect((await raw.call("completeStep", request)).code).toBe("INVALID_ARGUMENT");
    }
    expect((await raw.call("completeStep", { ...good, attempt: attempt + 1n })).code).toBe(
      "STALE_ATTEMPT",
    );
    // After the deadline the worker's lookup says that it never landed: a failure, nothing to undo.
    const late = async () => (await client.get(id)).status === "ACTIVE" && (await isOver());
    const isOver = async () => {
      const effects = await client.effects(id);
      return effects.length === 1 && effects[0]?.state === "absent";
    };
    await expect.poll(late, { timeout: 10_000 }).toBe(true);
    const after = await raw.call("completeStep", good);
    expect([
      after.code,
      (after.answer as steps.CompleteStepResponse | null)?.outcome?.status,
    ]).toEqual(["OK", 2]);
    expect((await client.get(id)).nextStep).toBe(1);
    // What came too late is there for people (E6), and once.
    await at.server.close();
    const store = await openStore({ path: at.settings.dataDir });
    const kept = await store.scanRecords("late", { transaction: id });
    expect(kept.map(({ value }) => JSON.parse(Buffer.from(value).toString("utf8")))).toMatchObject([
      { kind: "late-result", attempt: Number(attempt) },
    ]);
    await store.close();
    raw.close();
  }, 30_000);

  it("that nobody of its own tenant serves waits, whoever else serves the name", async () => {
    await at.remove();
    await client.close();
    const root = testRoot();
    const tokensFile = join(root, "tokens.json");
    const made = (tenant: string) =>
      createToken(tokensFile, {
        name: tenant,
        tenant,
        scopes: ["run", "operate", "read"],
        tools: null,
        expiresAt: null,
      });
    const [one, two] = [made("one"), made("two")];
    at = await startTestServer({ tokensFile }, undefined, root);
    client = createClient({ address: at.address, token: one });
    const other = createClient({ address: at.address, token: two });
    await other.serve({ tools: [ship] }).connected;
    const tx = await client.begin();
    await tx.runLocal(ship, { to: "Ann" });
    expect((await tx.abort()).rolledBack).toBe(false);
    // Parked for its tool, at once: not tried in vain with the other tenant's worker.
    expect(await client.unresolved()).toMatchObject([{ waitsFor: "tool" }]);
    await listening([ship]);
    await expect.poll(() => parcels.size, { timeout: 15_000 }).toBe(0);
    await other.close();
  }, 30_000);

  it("is not started by ExecuteStep, whatever name that gives", async () => {
    await listening([ship]);
    const tx = await client.begin();
    const outcome = await tx.step("remote:reversible:parcel.ship", { to: "x" });
    expect([outcome.status, executed]).toEqual(["ROLLBACK_TRIGGERED", 0]);
    await tx.abort();
  });
});
