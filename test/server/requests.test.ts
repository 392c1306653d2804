// Goal: a request has its effect once, whatever happens on the way. Method: a proxy that cuts the
// connection at every single piece of data, requests repeated, reordered and late, and two clients
// that want the same transaction.

import { type AgentTxClient, createClient, isAgentTxError } from "@agenttx/client";
import { defineTool, type ToolShape } from "@agenttx/engine";
import { type session, steps } from "@agenttx/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { cutProxy } from "./cut-proxy.js";
import { RawClient } from "./raw-calls.js";
import { startTestServer, type TestServer } from "./test-server.js";

/** Calls of `count`, by the text they were given. */
const counted = new Map<string, number>();
const count = defineTool({
  name: "count",
  schema: z.object({ text: z.string() }),
  effect: "reversible",
  execute: ({ text }) => {
    counted.set(text, (counted.get(text) ?? 0) + 1);
    return { text };
  },
  compensate: ({ args }) => {
    counted.delete(args.text);
  },
});

let at: TestServer;
beforeAll(async () => {
  at = await startTestServer({ inFlightMax: 8 }, [count as unknown as ToolShape]);
});
afterAll(() => at.remove());

async function scenario(client: AgentTxClient, mark: string): Promise<void> {
  const tx = await client.begin({ agentId: mark });
  await tx.step("count", { text: `${mark}/a` });
  await tx.step("count", { text: `${mark}/b` });
  await tx.step("count", { text: `${mark}/gone` });
  await tx.rollback(3);
  await tx.step("count", { text: `${mark}/c` });
  expect((await tx.commit()).stepsCommitted).toBe(3);
}

describe.each(["session", "unary"] as const)("a connection that is cut (%s)", (transport) => {
  it("at any piece of data: every step runs once, and the client goes on by itself", async () => {
    let cutAt = 0;
    for (let cut = true; cut; ) {
      cutAt += 1;
      expect(cutAt, "a scenario of five calls is not that long").toBeLessThan(120);
      const proxy = await cutProxy(at.address, cutAt);
      const client = createClient({ address: proxy.address, transport, deadlineMs: 20_000 });
      const mark = `${transport}/${cutAt}`;
      try {
        await scenario(client, mark);
        cut = proxy.hasCut();
      } finally {
        await client.close();
        await proxy.close();
      }
      const mine = [...counted].filter(([text]) => text.startsWith(`${mark}/`));
      expect(mine, `cut at piece ${cutAt}`).toEqual([
        [`${mark}/a`, 1],
        [`${mark}/b`, 1],
        [`${mark}/c`, 1],
      ]);
      expect((await begunBy(mark)).length, `begun once, cut at ${cutAt}`).toBe(1);
    }
    expect(cutAt).toBeGreaterThan(10);
  }, 120_000);
});

async function begunBy(mark: string) {
  const client = createClient({ address: at.address });
  try {
    const all = await client.list({ limit: 10_000 });
    return all.filter(({ agentId }) => agentId === mark);
  } finally {
    await client.close();
  }
}

describe("requests that come twice, out of order, or late", () => {
  const step = (transactionId: string, stepId: number, text: string, requestId = "") =>
    steps.ExecuteStepRequest.fromPartial({
      transactionId,
      stepId,
      toolName: "count",
      argumentsJson: JSON.stringify({ text }),
      requestId,
    });

  async function begin(raw: RawClient): Promise<string> {
    const request = { agentId: "", metadata: {}, requestId: "", isolation: "" };
    const { answer } = await raw.call("beginTransaction", request);
    return (answer as { transactionId: string }).transactionId;
  }

  /** All answers to messages that are sent at once, by correlation id. */
  async function together(
    raw: RawClient,
    requests: readonly session.SessionRequest["request"][],
  ): Promise<Map<number, session.SessionResponse["response"]>> {
    const stream = raw.session();
    const answers = new Map<number, session.SessionResponse["response"]>();
    await new Promise<void>((resolve, reject) => {
      stream.on("error", reject);
      stream.on("data", ({ correlationId, response }: session.SessionResponse) => {
        answers.set(correlationId, response);
        if (answers.size === requests.length) resolve();
      });
      for (const [index, request] of requests.entries()) {
        stream.write({ correlationId: index + 1, deadlineMs: 0, request });
      }
    });
    stream.end();
    return answers;
  }

  it("runs a duplicate once and gives both the same answer", async () => {
    const raw = new RawClient(at.address);
    const id = await begin(raw);
    const twice = { $case: "step", value: step(id, 1, "twice", "same") } as const;
    const answers = [...(await together(raw, [twice, twice])).values()];
    expect(answers.map((answer) => answer?.$case)).toEqual(["step", "step"]);
    expect(counted.get("twice")).toBe(1);
    const later = await raw.call("executeStep", step(id, 1, "twice", "same"));
    expect(later).toMatchObject({ code: "OK", answer: { repeatedAnswer: true, nextStepId: 2 } });
    const other = await raw.call("executeStep", step(id, 1, "other", "same"));
    expect(other.code).toBe("REQUEST_ID_REUSED");
    expect(counted.get("twice")).toBe(1);
    raw.close();
  });

  it("refuses the later step that came first, and runs nothing of it", async () => {
    const raw = new RawClient(at.address);
    const id = await begin(raw);
    const answers = await together(raw, [
      { $case: "step", value: step(id, 2, "second") },
      { $case: "step", value: step(id, 1, "first") },
    ]);
    expect(answers.get(1)).toMatchObject({
      $case: "error",
      value: { reason: "STEP_OUT_OF_ORDER" },
    });
    expect(answers.get(2)).toMatchObject({ $case: "step", value: { nextStepId: 2 } });
    expect([counted.get("first"), counted.has("second")]).toEqual([1, false]);
    raw.close();
  });

  it("answers in the order of the requests within a transaction", async () => {
    const raw = new RawClient(at.address);
    const id = await begin(raw);
    const answers = await together(
      raw,
      [1, 2, 3, 4, 5].map((number) => ({ $case: "step", value: step(id, number, `o${number}`) })),
    );
    expect([...answers.keys()]).toEqual([1, 2, 3, 4, 5]);
    raw.close();
  });

  it("refuses a step that comes after the end, and resurrects nothing", async () => {
    const raw = new RawClient(at.address);
    const id = await begin(raw);
    await raw.call("rollbackTransaction", { transactionId: id, reason: "", requestId: "" });
    expect((await raw.call("executeStep", step(id, 1, "late"))).code).toBe("TRANSACTION_ENDED");
    const commit = { transactionId: id, requestId: "" };
    expect((await raw.call("commitTransaction", commit)).code).toBe("TRANSACTION_ENDED");
    expect(counted.has("late")).toBe(false);
    raw.close();
  });

  it("answers the begin of a client that closes its side at once", async () => {
    const raw = new RawClient(at.address);
    const stream = raw.session();
    const answered = new Promise<session.SessionResponse>((resolve, reject) => {
      stream.on("data", resolve).on("error", reject);
    });
    stream.write({
      correlationId: 7,
      deadlineMs: 0,
      request: {
        $case: "begin",
        value: { agentId: "", metadata: {}, policy: undefined, requestId: "", isolation: "" },
      },
    });
    stream.end();
    expect(await answered).toMatchObject({ correlationId: 7, response: { $case: "begin" } });
    raw.close();
  });
});

describe("two clients that race for one transaction", () => {
  it("take turns: every step number runs once, the loser is told the next one", async () => {
    const clients = [createClient({ address: at.address }), createClient({ address: at.address })];
    const [one, other] = clients;
    if (one === undefined || other === undefined) throw new Error("two clients");
    const { id } = await one.begin();
    const won: number[] = [];
    const lost: string[] = [];
    const race = async (client: AgentTxClient, name: string) => {
      for (let tries = 0; tries < 200 && won.length < 30; tries += 1) {
        const tx = await client.resume(id);
        try {
          const outcome = await tx.step("count", { text: `race/${name}/${tries}` });
          if (outcome.status === "SUCCESS") won.push(outcome.step);
        } catch (error) {
          if (!isAgentTxError(error)) throw error;
          lost.push(error.code);
        }
      }
    };
    await Promise.all([race(one, "one"), race(other, "other")]);
    expect(won.length).toBeGreaterThanOrEqual(30);
    expect([...won].sort((a, b) => a - b)).toEqual(won.map((_step, index) => index + 1));
    expect(new Set([...lost, "STEP_IN_PROGRESS", "STEP_OUT_OF_ORDER"]).size).toBe(2);
    const ran = [...counted].filter(([text]) => text.startsWith("race/"));
    expect(ran.length).toBe(won.length);
    await (await one.resume(id)).abort();
    for (const client of clients) await client.close();
  });
});

describe("a reader that does not read", () => {
  it("stops the reading of its requests: what the server holds for it stays bounded", async () => {
    const client = createClient({ address: at.address });
    const tx = await client.begin();
    await tx.step("count", { text: "slow" }, { rawContext: "c".repeat(256 * 1024) });
    const raw = new RawClient(at.address);
    const stream = raw.session();
    stream.on("error", () => {});
    // grpc-js does not begin to hold back before a first message was taken.
    stream.once("data", () => stream.pause());
    const before = await handled();
    const all = 120;
    for (let id = 1; id <= all; id += 1) {
      const value = { transactionId: tx.id, contextPageToken: "" };
      stream.write({ correlationId: id, deadlineMs: 0, request: { $case: "get", value } });
    }
    // Eight may run; sixteen answers wait on each side, a few are in the windows between.
    let seen = -1;
    await expect
      .poll(async () => {
        const last = seen;
        seen = (await handled()) - before;
        return seen > 0 && seen === last;
      })
      .toBe(true);
    expect(seen).toBeLessThan(64);
    let answers = 1;
    const done = new Promise<void>((resolve) => {
      stream.on("data", () => {
        answers += 1;
        if (answers === all) resolve();
      });
    });
    stream.resume();
    await done;
    stream.cancel();
    raw.close();
    await tx.abort();
    await client.close();
  });

  async function handled(): Promise<number> {
    const text = await (await fetch(`${at.httpUrl}/metrics`)).text();
    const line = /agenttx_calls_total\{face="session",method="getTransaction",code="OK"\} (\d+)/;
    return Number(line.exec(text)?.[1] ?? 0);
  }
});
