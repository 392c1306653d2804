// Goal: no call is answered for someone who may not make it, and no tenant sees another's. Method: a
// row for each call of the protocol, taken from the service definition, against every kind of caller;
// a new call without a row fails.

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ToolShape } from "@agenttx/engine";
import { createToken, revokeToken, STREAM_ROUTES, UNARY_ROUTES } from "@agenttx/server";
import { agentTxService, type session } from "@agenttx/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { CASES, FLOW, type Ids, INNER, OWN_FLOW, ROWS, step } from "./call-table.js";
import { type CallName, RawClient } from "./raw-calls.js";
import { agentTools, startTestServer, type TestServer, testRoot } from "./test-server.js";

const names = Object.keys(agentTxService) as CallName[];
const root = testRoot();
const tokensFile = join(root, "tokens.json");
const tokens = new Map<string, string>();
const clients = new Map<string, RawClient>();
let at: TestServer;
let ids: Ids;

function addToken(name: string, more: Partial<Parameters<typeof createToken>[1]> = {}): void {
  const entry = { name, tenant: "one", tools: null, expiresAt: null, ...more };
  tokens.set(name, createToken(tokensFile, { scopes: ["run", "operate", "read"], ...entry }));
}

function as(name: string): RawClient {
  let client = clients.get(name);
  if (client === undefined) {
    client = new RawClient(at.address, tokens.get(name) ?? null);
    clients.set(name, client);
  }
  return client;
}

const ship = defineTool({
  name: "ship",
  schema: z.object({}),
  effect: "reversible",
  execute: () => ({ parcel: 1 }),
  compensate: () => {
    throw new Error("the carrier does not answer");
  },
});

beforeAll(async () => {
  addToken("owner");
  addToken("run only", { scopes: ["run"] });
  addToken("operate only", { scopes: ["operate"] });
  addToken("read only", { scopes: ["read"] });
  addToken("other tool", { tools: ["kv.get"] });
  addToken("expired", { expiresAt: "2020-01-01T00:00:00Z" });
  addToken("revoked");
  revokeToken(tokensFile, "revoked");
  addToken("stranger", { tenant: "two" });
  tokens.set("wrong", `atx_${"A".repeat(43)}`);
  at = await startTestServer({ tokensFile }, [...agentTools(), ship as unknown as ToolShape], root);
  const begun = await as("owner").call("beginTransaction", {
    agentId: "owner",
    metadata: {},
    requestId: "",
    isolation: "",
  });
  const { transactionId } = begun.answer as { transactionId: string };
  await as("owner").call("executeStep", {
    ...step({ transactionId, effectId: "" }, "ship"),
    stepId: 1,
    argumentsJson: "{}",
  });
  const { answer } = await as("owner").call("listEffects", {
    transactionId,
    pageSize: 0,
    pageToken: "",
  });
  const [effect] = (answer as { effects: { effectId: string }[] }).effects;
  ids = { transactionId, effectId: effect?.effectId ?? "" };
  expect(ids.effectId).not.toBe("");
  for (const workflowId of [FLOW, OWN_FLOW.workflowId]) {
    const start = { workflowId, name: "", agentId: "", metadata: {}, owner: "owner" };
    expect((await as("owner").call("startWorkflow", start)).code).toBe("OK");
  }
}, 60_000);
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await at.remove();
});

describe("the table", () => {
  it("has a row for every call of the protocol", () => {
    expect(Object.keys(ROWS).sort()).toEqual([...names].sort());
  });
});

describe.each(names)("%s", (name) => {
  const row = ROWS[name];

  it.each(["none", "wrong", "expired", "revoked"])(
    "refuses a caller with token: %s",
    async (who) => {
      const { code, message } = await as(who).call(name, row.request(ids));
      expect(code).toBe("UNAUTHENTICATED");
      expect(message).toBe("A valid bearer token is needed.");
    },
  );

  it(`is refused without the scope ${row.scope}`, async () => {
    for (const scope of ["run", "operate", "read"].filter((one) => one !== row.scope)) {
      const { code } = await as(`${scope} only`).call(name, row.request(ids));
      expect([scope, code]).toEqual([scope, "PERMISSION_DENIED"]);
    }
  });

  it("shows another tenant nothing", async () => {
    const { code, answer } = await as("stranger").call(name, row.request(ids));
    if (row.foreign === "NOT_FOUND") expect(code).toBe("NOT_FOUND");
    else {
      expect(code).toBe("OK");
      expect(row.foreign(answer as never)).toBe(true);
    }
  });
});

describe("a token with a list of tools", () => {
  it.each(names.filter((name) => ROWS[name].tool === true))("%s refuses another", async (name) => {
    const request = ROWS[name].request(ids);
    expect((await as("other tool").call(name, request)).code).toBe("PERMISSION_DENIED");
  });
});

describe("inner ids of a session", () => {
  it.each(INNER)("%s of another tenant is not found", async (name) => {
    const value = ROWS[name].request(ids);
    const request = {
      correlationId: 1,
      deadlineMs: 0,
      request: { $case: CASES[name] ?? name, value: { fencingToken: 0n, ...value } },
    } as unknown as session.SessionRequest;
    expect((await as("stranger").call("session", request)).code).toBe("NOT_FOUND");
    // The same request of the owner is read: whatever it says, it is not that.
    const own = await as("owner").call(name, value);
    expect(own.code).not.toBe("NOT_FOUND");
  });
});

describe("page tokens", () => {
  it("are of no use to another tenant, or when they are damaged", async () => {
    for (let count = 0; count < 2; count += 1) {
      await as("owner").call("beginTransaction", ROWS.beginTransaction.request(ids));
    }
    const first = { statuses: [], pageSize: 1, pageToken: "" };
    const { answer } = await as("owner").call("listTransactions", first);
    const { nextPageToken } = answer as { nextPageToken: string };
    const next = { ...first, pageToken: nextPageToken };
    expect((await as("owner").call("listTransactions", next)).code).toBe("OK");
    expect((await as("stranger").call("listTransactions", next)).code).toBe("INVALID_ARGUMENT");
    for (const pageToken of [
      "x",
      "bnVsbA",
      Buffer.from('["list:one:","a"').toString("base64url"),
    ]) {
      const { code } = await as("owner").call("listTransactions", { ...first, pageToken });
      expect(code).toBe("INVALID_ARGUMENT");
    }
  });
});

describe("over HTTP", () => {
  const routes = [...UNARY_ROUTES, ...STREAM_ROUTES];
  const ask = async (route: (typeof routes)[number], token: string | undefined) => {
    const path = route.path
      .replace("{transactionId}", ids.transactionId)
      .replace("{workflowId}", OWN_FLOW.workflowId);
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const body = { effectId: ids.effectId, stepId: 2, toolName: "customers.search" };
    const post = route.method === "post";
    const response = await fetch(at.httpUrl + path, {
      method: route.method,
      headers: { ...authorization, ...(post ? { "content-type": "application/json" } : {}) },
      ...(post ? { body: JSON.stringify(body) } : {}),
    });
    const text = response.body === null ? "" : await response.text();
    return { status: response.status, text };
  };

  it.each(routes.map((route) => [route.call, route] as const))(
    "%s wants a valid token",
    async (_name, route) => {
      for (const who of ["none", "wrong", "expired", "revoked"]) {
        const { status, text } = await ask(route, tokens.get(who));
        expect([who, status]).toEqual([who, 401]);
        expect(JSON.parse(text)).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
      }
    },
  );

  it.each(
    UNARY_ROUTES.filter(
      ({ path, call }) => path.includes("{") && ROWS[call].foreign === "NOT_FOUND",
    )
      .filter(({ method }) => method === "get")
      .map((route) => [route.call, route] as const),
  )("%s does not find another tenant's id", async (_name, route) => {
    expect((await ask(route, tokens.get("stranger"))).status).toBe(404);
    expect((await ask(route, tokens.get("owner"))).status).toBe(200);
  });

  it("refuses a token in the query, and shows metrics to readers only", async () => {
    const inQuery = await fetch(`${at.httpUrl}/v1/transactions?token=${tokens.get("owner")}`);
    expect(inQuery.status).toBe(401);
    const metrics = (who: string) =>
      fetch(`${at.httpUrl}/metrics`, { headers: { authorization: `Bearer ${tokens.get(who)}` } });
    expect((await metrics("read only")).status).toBe(200);
    expect((await metrics("run only")).status).toBe(403);
    expect((await fetch(`${at.httpUrl}/metrics`)).status).toBe(401);
  });
});

describe("a token that is revoked while a stream is open", () => {
  const endless = names.filter((name) => ROWS[name].staysOpen === true);

  it("is tried with every stream; one that answers and ends is finite", async () => {
    const streams = names.filter((name) => {
      const { requestStream, responseStream } = agentTxService[name];
      return requestStream || responseStream;
    });
    const finite = ["getAudit", "getWorkflowAudit"];
    expect([...endless, ...finite].sort()).toEqual([...streams].sort());
  });

  it.each(endless)("ends %s", async (name) => {
    addToken(`short ${name}`);
    // A server trusts what it has read for half a second.
    await expect
      .poll(async () => (await as(`short ${name}`).call("listTransactions", LIST)).code)
      .toBe("OK");
    const client = as(`short ${name}`);
    const ended = new Promise<{ code: number }>((resolve) => {
      if (name === "session") {
        const stream = client.session();
        stream.on("error", resolve).on("data", () => {});
        stream.write({
          correlationId: 1,
          deadlineMs: 0,
          request: { $case: "get", value: { ...ids, contextPageToken: "" } },
        });
        return;
      }
      const { path, requestSerialize, responseDeserialize } = agentTxService[name];
      // Only that the name is one of a server stream is known here.
      client.channel
        .makeServerStreamRequest(
          path,
          requestSerialize as (request: object) => Buffer,
          responseDeserialize as (bytes: Buffer) => object,
          { ...ROWS[name].request(ids), transactionId: "" },
          client.metadata(),
        )
        .on("error", resolve)
        .on("data", () => {});
    });
    revokeToken(tokensFile, `short ${name}`);
    expect((await ended).code).toBe(16);
  });

  const LIST = { statuses: [], pageSize: 0, pageToken: "" };
});

describe("the tokens file", () => {
  it("keeps the last good content when it becomes unreadable, and opens to nobody", async () => {
    const good = readFileSync(tokensFile);
    writeFileSync(tokensFile, "not JSON");
    chmodSync(tokensFile, 0o600);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const list = { statuses: [], pageSize: 0, pageToken: "" };
    expect((await as("owner").call("listTransactions", list)).code).toBe("OK");
    expect((await as("wrong").call("listTransactions", list)).code).toBe("UNAUTHENTICATED");
    writeFileSync(tokensFile, good);
  });
});
