// Goal: no caller can take more than its share, and each limit says so. Method: servers with small
// limits, and one request too many.

import { AgentTxError, createClient } from "@agenttx/client";
import { defineTool, type ToolShape } from "@agenttx/engine";
import { type session, steps } from "@agenttx/wire";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { RawClient } from "./raw-calls.js";
import { agentTools, heldTool, postJson, startTestServer, type TestServer } from "./test-server.js";

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(overrides: Record<string, unknown>, tools?: ToolShape[]): Promise<TestServer> {
  const at = await startTestServer(overrides, tools);
  open.push(() => at.remove());
  return at;
}

function clientOf(at: TestServer, more: { deadlineMs?: number } = {}) {
  const client = createClient({ address: at.address, ...more });
  open.push(() => client.close());
  return client;
}

function rawOf(at: TestServer): RawClient {
  const client = new RawClient(at.address);
  open.push(() => client.close());
  return client;
}

const begin = { agentId: "", metadata: {}, requestId: "", isolation: "" };

describe("the request rate", () => {
  it("refuses the one too many and says when to come back", async () => {
    const at = await serve({ requestsPerSecond: 2 });
    const answers = [];
    for (let count = 0; count < 3; count += 1) {
      answers.push(await postJson(`${at.httpUrl}/v1/transactions`, {}));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.body).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      details: { limit: "requestsPerSecond" },
    });
  });
});

describe("open streams", () => {
  it("are counted over sessions and watchers, and given back", async () => {
    const at = await serve({ sessionsMax: 2 });
    const first = rawOf(at).session();
    first.on("error", () => {});
    const [second, third] = [rawOf(at), rawOf(at)];
    const get: session.SessionRequest = {
      correlationId: 1,
      deadlineMs: 0,
      request: { $case: "begin", value: { ...begin, policy: undefined } },
    };
    first.write(get);
    await new Promise((resolve) => first.once("data", resolve));
    const held = second.session();
    held.on("error", () => {}).write(get);
    await new Promise((resolve) => held.once("data", resolve));
    expect((await third.call("session", get)).code).toBe("RESOURCE_EXHAUSTED");
    expect((await third.call("watchTransactions", { transactionId: "" })).code).toBe(
      "RESOURCE_EXHAUSTED",
    );
    first.cancel();
    await expect.poll(async () => (await third.call("session", get)).code).toBe("OK");
  });
});

describe("open transactions", () => {
  it("count once for a repeated begin, and are given back at the end", async () => {
    const at = await serve({ openTransactionsMax: 2 });
    const client = clientOf(at);
    const one = await client.begin({ requestId: "r" });
    expect((await client.begin({ requestId: "r" })).id).toBe(one.id);
    const two = await client.begin();
    await expect(client.begin()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    await two.abort();
    await one.commit();
    await client.begin();
    await client.begin();
    await expect(client.begin()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });

  it("count those that were found open at the start", async () => {
    const at = await startTestServer({ openTransactionsMax: 1 });
    const before = createClient({ address: at.address });
    const { id } = await before.begin();
    await before.close();
    const again = await at.restart();
    open.push(() => again.remove());
    const client = clientOf(again);
    await expect(client.begin()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    await (await client.resume(id)).abort();
    await client.begin();
  });

  it("end when their lifetime is over", async () => {
    const at = await serve({ lifetimeMaxMs: 100 });
    const client = clientOf(at);
    const tx = await client.begin();
    await expect.poll(async () => (await tx.view()).status, { timeout: 5_000 }).toBe("ROLLED_BACK");
    expect((await tx.view()).abortReason).toBe("LIFETIME_EXCEEDED");
  });
});

describe("sizes", () => {
  it("refuses a message or body over the limit and goes on serving", async () => {
    const at = await serve({ messageBytesMax: 64 * 1024 });
    const raw = rawOf(at);
    const { answer } = await raw.call("beginTransaction", begin);
    const { transactionId } = answer as { transactionId: string };
    const step = steps.ExecuteStepRequest.fromPartial({
      transactionId,
      stepId: 1,
      toolName: "kv.put",
      argumentsJson: JSON.stringify({ key: "k", value: "x".repeat(70_000) }),
    });
    expect((await raw.call("executeStep", step)).code).toBe("grpc 8");
    const url = `${at.httpUrl}/v1/transactions/${transactionId}/steps`;
    const over = await postJson(url, { stepId: 1, toolName: "t", rawContext: "x".repeat(70_000) });
    expect([over.status, over.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    const small = { ...step, argumentsJson: '{"key":"k","value":1}' };
    expect((await raw.call("executeStep", small)).code).toBe("OK");
  });

  it("fails a call alone when its message is too large, not the session it would go through", async () => {
    const client = clientOf(await serve({}));
    const tx = await client.begin();
    const other = await client.begin();
    const held = other.step("kv.put", { key: "k", value: 1 });
    await expect(
      tx.step("kv.put", { key: "k", value: "x".repeat(5 * 1024 * 1024) }),
    ).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect((await held).status).toBe("SUCCESS");
    expect((await tx.step("kv.put", { key: "k", value: 2 })).status).toBe("SUCCESS");
  });

  it("sends an output of nearly 4 MiB, and a context in pages below the message limit", async () => {
    const large = defineTool({
      name: "large",
      schema: z.object({}),
      effect: "read-only",
      execute: () => "x".repeat(4 * 1024 * 1024 - 2),
    }) as unknown as ToolShape;
    const client = clientOf(await serve({}, [large]));
    const tx = await client.begin();
    const rawContext = "c".repeat(900_000);
    for (let count = 0; count < 4; count += 1) {
      const put = { key: `k${count}`, value: 1 };
      expect((await tx.step("kv.put", put, { rawContext })).status).toBe("SUCCESS");
    }
    const outcome = await tx.step("large", {});
    expect(outcome.status === "SUCCESS" && String(outcome.output).length).toBe(4 * 1024 * 1024 - 2);
    const { context } = await tx.view();
    expect(context.length).toBeGreaterThan(0);
  });
});

describe("deadlines", () => {
  it.each(["session", "unary"] as const)(
    "answer UNAVAILABLE while the step goes on, and its answer is there for the same request id (%s)",
    async (transport) => {
      const held = heldTool();
      const at = await serve({}, [...agentTools(), held.tool]);
      const hurried = createClient({ address: at.address, transport, deadlineMs: 150 });
      open.push(() => hurried.close());
      const patient = clientOf(at);
      const { id } = await patient.begin();
      const tx = await hurried.resume(id);
      const begun = held.begun();
      const first = tx.step("held", {}, { requestId: "r" });
      first.catch(() => {});
      await begun;
      await expect(first).rejects.toMatchObject({ code: "UNAVAILABLE" });
      for (let again = 0; again < 3; again += 1) {
        await expect(tx.step("held", {}, { requestId: "r", stepId: 1 })).rejects.toBeInstanceOf(
          AgentTxError,
        );
      }
      held.state.letGo();
      const handle = await patient.resume(id);
      const outcome = await handle.step("held", {}, { requestId: "r", stepId: 1 });
      expect(outcome).toMatchObject({ status: "SUCCESS", output: { started: 1 }, repeated: true });
      expect(held.state.started).toBe(1);
    },
  );

  it("are the server's when the caller gives none, and in the header over HTTP", async () => {
    const held = heldTool();
    const at = await serve({ deadlineDefaultMs: 150 }, [held.tool]);
    const { body } = await postJson(`${at.httpUrl}/v1/transactions`, {});
    const url = `${at.httpUrl}/v1/transactions/${body.transactionId}/steps`;
    const step = { stepId: 1, toolName: "held", argumentsJson: "{}", requestId: "r" };
    const late = await postJson(url, step);
    expect([late.status, late.body.code]).toEqual([503, "UNAVAILABLE"]);
    const headers = { "agenttx-deadline-ms": "50" };
    const later = await postJson(url, step, headers);
    expect(later.body).toMatchObject({ code: "UNAVAILABLE", details: { deadlineMs: "50" } });
    const wrong = await postJson(url, {}, { "agenttx-deadline-ms": "soon" });
    expect(wrong.status).toBe(400);
    const raw = rawOf(at);
    const transactionId = String(body.transactionId);
    const request = steps.ExecuteStepRequest.fromPartial({ ...step, transactionId });
    expect((await raw.call("executeStep", request)).code).toBe("UNAVAILABLE");
    const message: session.SessionRequest = {
      correlationId: 1,
      deadlineMs: 60,
      request: { $case: "step", value: request },
    };
    const inSession = await raw.call("session", message);
    expect(inSession).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("within 60 ms"),
    });
    held.state.letGo();
    expect(held.state.started).toBe(1);
  });
});

describe("abort", () => {
  it("overtakes a step that hangs, in the same session", async () => {
    const held = heldTool();
    const client = clientOf(await serve({}, [held.tool]));
    const tx = await client.begin();
    const begun = held.begun();
    const hanging = tx.step("held", {});
    hanging.catch(() => {});
    await begun;
    expect((await tx.abort()).status).toBe("ROLLED_BACK");
    await expect(hanging).rejects.toBeInstanceOf(AgentTxError);
  });
});
