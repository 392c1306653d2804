// Goal: one scenario (begin, steps, failure, rewind, commit) means the same on every face, and to a
// client that is not ours. Method: the same steps through session stream, unary calls, HTTP, and
// through proto-loader on the .proto files with the public protocol's fields alone.

import { fileURLToPath } from "node:url";
import { createClient } from "@agenttx/client";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postJson, startTestServer, type TestServer } from "./test-server.js";

interface Answer {
  readonly status: string;
  readonly strategy?: string;
  readonly rollbackToStep?: number;
  readonly nextStep: number;
  readonly output?: unknown;
  readonly hint?: string;
}

interface Face {
  begin(agent: string): Promise<{ readonly id: string; readonly nextStep: number }>;
  step(id: string, step: number, tool: string, args: object): Promise<Answer>;
  rewind(id: string, toStep: number): Promise<{ rolledBack: boolean; nextStep: number }>;
  commit(id: string): Promise<{ committed: boolean; steps: number }>;
  status(id: string): Promise<string>;
  close(): Promise<void>;
}

function ourFace(address: string, transport: "session" | "unary"): Face {
  const client = createClient({ address, transport });
  const open = new Map<string, Awaited<ReturnType<typeof client.begin>>>();
  const at = (id: string) => {
    const tx = open.get(id);
    if (tx === undefined) throw new Error(`no handle on ${id}`);
    return tx;
  };
  return {
    begin: async (agentId) => {
      const tx = await client.begin({ agentId });
      open.set(tx.id, tx);
      return tx;
    },
    step: async (id, stepId, tool, args) => {
      const outcome = await at(id).step(tool, args as never, { stepId });
      if (outcome.status === "SUCCESS") return outcome;
      if (outcome.status === "FAILED") return { status: "FAILED", nextStep: 0 };
      return { ...outcome, hint: outcome.hint.text };
    },
    rewind: (id, toStep) => at(id).rollback(toStep),
    commit: async (id) => {
      const { status, stepsCommitted } = await at(id).commit();
      return { committed: status === "COMMITTED", steps: stepsCommitted };
    },
    status: async (id) => (await client.get(id)).status,
    close: () => client.close(),
  };
}

/** What HTTP and foreign clients see: enum names, JSON texts. */
function plainAnswer(message: Record<string, unknown>): Answer {
  const status = String(message.status).replace("STEP_STATUS_", "");
  return {
    status,
    strategy: String(message.strategy).replace("ROLLBACK_STRATEGY_", ""),
    rollbackToStep: Number(message.rollbackToStep),
    nextStep: Number(message.nextStepId),
    ...(status === "SUCCESS" ? { output: JSON.parse(String(message.outputJson)) } : {}),
    hint: String(message.cleanHint),
  };
}

function httpFace(url: string): Face {
  const call = async (path: string, body: unknown) => {
    const answer = await postJson(`${url}/v1/transactions${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  return {
    begin: async (agentId) => {
      const { transactionId, nextStepId } = await call("", { agentId });
      return { id: String(transactionId), nextStep: Number(nextStepId) };
    },
    step: async (id, stepId, toolName, args) => {
      const body = { stepId, toolName, argumentsJson: JSON.stringify(args) };
      return plainAnswer(await call(`/${id}/steps`, body));
    },
    rewind: async (id, toStep) => {
      const { rolledBack, nextStepId } = await call(`/${id}/rollback`, { toStep });
      return { rolledBack: rolledBack === true, nextStep: Number(nextStepId) };
    },
    commit: async (id) => {
      const { committed, stepsCommitted } = await call(`/${id}/commit`, {});
      return { committed: committed === true, steps: Number(stepsCommitted) };
    },
    status: async (id) => {
      const response = await fetch(`${url}/v1/transactions/${id}`);
      return ((await response.json()) as { status: string }).status;
    },
    close: async () => {},
  };
}

type Foreign = Record<
  string,
  (request: object, done: (error: Error | null, answer: Record<string, unknown>) => void) => void
> & { close(): void };

const PROTO = fileURLToPath(new URL("../../packages/wire/proto", import.meta.url));

/** Fields 1..12 of the first five calls, as in the public protocol; nothing of ours is imported. */
function foreignFace(address: string): Face {
  const definition = loadSync("agenttx/v1/agenttx.proto", {
    includeDirs: [PROTO],
    enums: String,
    defaults: true,
  });
  const root = grpc.loadPackageDefinition(definition) as unknown as {
    agenttx: {
      v1: { AgentTxService: new (to: string, as: grpc.ChannelCredentials) => Foreign };
    };
  };
  const client = new root.agenttx.v1.AgentTxService(address, grpc.credentials.createInsecure());
  const call = (name: string, request: object) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      client[name]?.(request, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  return {
    begin: async (agentId) => {
      const request = { agentId, metadata: { run: "1" }, policy: { maxLocalDepth: 2 } };
      const { transactionId, nextStepId } = await call("BeginTransaction", request);
      return { id: String(transactionId), nextStep: Number(nextStepId) };
    },
    step: async (transactionId, stepId, toolName, args) =>
      plainAnswer(
        await call("ExecuteStep", {
          transactionId,
          stepId,
          toolName,
          argumentsJson: JSON.stringify(args),
          rawContext: "because",
        }),
      ),
    rewind: async (transactionId, toStep) => {
      const request = { transactionId, toStep, reason: "test" };
      const { rolledBack, nextStepId } = await call("RollbackTransaction", request);
      return { rolledBack: rolledBack === true, nextStep: Number(nextStepId) };
    },
    commit: async (transactionId) => {
      const { committed, stepsCommitted } = await call("CommitTransaction", { transactionId });
      return { committed: committed === true, steps: Number(stepsCommitted) };
    },
    status: async (transactionId) =>
      String((await call("GetTransaction", { transactionId })).status),
    close: async () => client.close(),
  };
}

let at: TestServer;
beforeAll(async () => {
  at = await startTestServer();
});
afterAll(() => at.remove());

const FACES: readonly (readonly [string, () => Face])[] = [
  ["session stream", () => ourFace(at.address, "session")],
  ["unary calls", () => ourFace(at.address, "unary")],
  ["HTTP", () => httpFace(at.httpUrl)],
  ["a foreign client", () => foreignFace(at.address)],
];

describe.each(FACES)("the scenario through %s", (_name, open) => {
  it("jumps back to the cause, rewinds by hand, and commits once", async () => {
    const face = open();
    try {
      const { id, nextStep } = await face.begin("scenario");
      expect(nextStep).toBe(1);
      const found = await face.step(id, 1, "customers.search", { by: "name" });
      expect(found).toMatchObject({ status: "SUCCESS", nextStep: 2 });
      expect(found.output).toEqual({ customer_id: 1007 });
      const wrong = await face.step(id, 2, "orders.check", {
        customer_id: `${"$"}{steps.1.customer_id}`,
      });
      expect(wrong).toMatchObject({
        status: "ROLLBACK_TRIGGERED",
        strategy: "DEPENDENCY_JUMP",
        rollbackToStep: 1,
        nextStep: 1,
      });
      expect(wrong.hint).toMatch(/^Hint: .*customer_id/);
      expect(wrong.hint).not.toContain("1007");
      await face.step(id, 1, "customers.search", { by: "email" });
      const right = await face.step(id, 2, "orders.check", {
        customer_id: `${"$"}{steps.1.customer_id}`,
      });
      expect(right).toMatchObject({ status: "SUCCESS", nextStep: 3 });
      expect(await face.rewind(id, 2)).toMatchObject({ rolledBack: true, nextStep: 2 });
      await face.step(id, 2, "orders.check", { customer_id: 1042 });
      expect(await face.commit(id)).toEqual({ committed: true, steps: 2 });
      expect(await face.commit(id)).toEqual({ committed: true, steps: 2 });
      expect(await face.status(id)).toBe("COMMITTED");
    } finally {
      await face.close();
    }
  });
});
