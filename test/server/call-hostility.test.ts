// Goal: every call, over every face, refuses what is too large, malformed, too much or hostile with a
// documented code, and its words tell nothing of paths, stacks, secrets or other tenants. Method: the
// table of calls; each text and number of a good request is replaced in turn. A new call needs its row
// and nothing else.

import { join } from "node:path";
import { ERROR_CODES } from "@agenttx/model";
import { createToken, STREAM_ROUTES, UNARY_ROUTES } from "@agenttx/server";
import { agentTxService } from "@agenttx/wire";
import type { MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ids, OWN_FLOW, ROWS } from "./call-table.js";
import { type Answered, type CallName, RawClient } from "./raw-calls.js";
import { startTestServer, type TestServer, testRoot } from "./test-server.js";

const BYTES_MAX = 256 * 1024;
const RATE = 3;
const names = Object.keys(agentTxService) as CallName[];

const root = testRoot();
const tokensFile = join(root, "tokens.json");
const tokens = new Map<string, string>();
let at: TestServer;
let slow: TestServer;
let owner: RawClient;
let prey: RawClient;
/** Ids of the tenant that must not be mentioned to others. */
let secret: Ids;

function token(name: string, tenant: string): string {
  const scopes = ["run", "operate", "read"] as const;
  const entry = { name, tenant, tools: null, expiresAt: null, scopes: [...scopes] };
  const made = createToken(tokensFile, entry);
  tokens.set(name, made);
  return made;
}

async function begun(client: RawClient): Promise<Ids> {
  const { answer } = await client.call("beginTransaction", ROWS.beginTransaction.request(NO_IDS));
  return { transactionId: (answer as { transactionId: string }).transactionId, effectId: "none/1" };
}
const NO_IDS: Ids = { transactionId: "", effectId: "" };

beforeAll(async () => {
  const mine = token("owner", "tenant-of-the-owner");
  const other = token("prey", "two");
  at = await startTestServer({ tokensFile, messageBytesMax: BYTES_MAX }, undefined, root);
  slow = await startTestServer({ requestsPerSecond: RATE });
  owner = new RawClient(at.address, mine);
  prey = new RawClient(at.address, other);
  secret = await begun(owner);
}, 60_000);
afterAll(async () => {
  owner.close();
  prey.close();
  await slow.remove();
  await at.remove();
});

/** No path, no stack, no module, no token, nothing of the other tenant but what was asked for. */
function expectDiscreet(raw: string, asked = ""): void {
  const text = asked === "" ? raw : raw.replaceAll(asked, "");
  expect(text).not.toMatch(
    /\bat .*\(.*:\d+:\d+\)|node_modules|\.[jt]s:\d+|\/(home|tmp|work|root|usr|etc)\/|atx_[\w-]{8}/,
  );
  expect(text).not.toContain(secret.transactionId);
  expect(text).not.toContain("tenant-of-the-owner");
  expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect(text.length).toBeLessThan(2_000);
}

/** OK, or a code of the catalogue that is no confession of a bug. */
function expectAnswer({ code, message }: Answered): void {
  if (code === "OK") return;
  expect([...Object.keys(ERROR_CODES), "grpc 8"]).toContain(code);
  expect(code).not.toBe("INTERNAL");
  expectDiscreet(message);
}

/** The request as bytes with more behind it, to any call: what comes back first. */
function send(client: RawClient, name: CallName, bytes: Buffer): Promise<ServiceError | null> {
  const { path, requestStream, responseStream } = agentTxService[name] as MethodDefinition<
    unknown,
    unknown
  >;
  const asIs = (raw: Buffer): Buffer => raw;
  const { channel } = client;
  return new Promise((resolve) => {
    if (!requestStream && !responseStream) {
      channel.makeUnaryRequest(path, asIs, asIs, bytes, client.metadata(), (error) =>
        resolve(error),
      );
      return;
    }
    const stream = requestStream
      ? channel.makeBidiStreamRequest(path, asIs, asIs, client.metadata())
      : channel.makeServerStreamRequest(path, asIs, asIs, bytes, client.metadata());
    const timer = setTimeout(() => stream.cancel(), 300);
    stream.on("data", () => stream.cancel());
    stream.on("end", () => resolve(null));
    stream.on("error", (error: ServiceError) => {
      clearTimeout(timer);
      resolve(error);
    });
    if (requestStream) (stream as unknown as { write(bytes: Buffer): void }).write(bytes);
  });
}

function bytesOf(name: CallName, ids: Ids): Buffer {
  const { requestSerialize } = agentTxService[name] as MethodDefinition<unknown, unknown>;
  return requestSerialize(ROWS[name].request(ids));
}

const TEXTS: readonly string[] = [
  "",
  " ",
  "x".repeat(100_000),
  "../../../../vault/keys",
  "/vault/keys",
  "file:///vault/keys",
  "a\u0000b",
  "\u001b[2J\u202e\u2066",
  "__proto__",
  "constructor",
  "\ufffd\u{1f600}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as callers write it
  "${secrets.TOKEN}${steps.1.x}",
  '{"__proto__":{"admin":true}}',
  "[".repeat(50_000),
  "1e999",
  "-1",
];
const NUMBERS: readonly number[] = [0, 1, 2 ** 31 - 1, 2 ** 32 - 1];
const BIGINTS: readonly bigint[] = [0n, 1n, 2n ** 63n - 1n, 2n ** 64n - 1n];

/** Copies of a request, each with one member replaced by a hostile one. */
function* variants(request: unknown): Generator<unknown> {
  if (typeof request === "string") yield* TEXTS;
  else if (typeof request === "number") yield* NUMBERS;
  else if (typeof request === "bigint") yield* BIGINTS;
  else if (typeof request === "boolean") yield !request;
  else if (Array.isArray(request)) {
    for (const text of TEXTS) yield [text];
    yield Array.from({ length: 10_000 }, () => "x");
  } else if (typeof request === "object" && request !== null) {
    for (const [name, member] of Object.entries(request)) {
      if (name === "$case") continue;
      if (name === "metadata") {
        for (const text of TEXTS) yield { ...request, metadata: { [text]: text } };
        continue;
      }
      if (name === "writes") continue;
      for (const variant of variants(member)) yield { ...request, [name]: variant };
    }
  }
}

describe.each(names)("%s", (name) => {
  it("refuses a message over the limit, and goes on", async () => {
    const ids = await begun(prey);
    // A field that nobody knows: the limit counts bytes, whatever they say.
    const padding = Buffer.concat([
      Buffer.from([0xfa, 0x3f, 0x80, 0x80, 0x14]),
      Buffer.alloc(BYTES_MAX + 65_536),
    ]);
    const error = await send(prey, name, Buffer.concat([bytesOf(name, ids), padding]));
    expect(error?.code).toBe(8);
    expectDiscreet(error?.details ?? "");
    expect((await prey.call("getTransaction", ROWS.getTransaction.request(ids))).code).toBe("OK");
  });

  it("refuses what is no message of it, discreetly", async () => {
    for (const bytes of [
      Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 0x41]),
      Buffer.alloc(64, 0xff),
      Buffer.alloc(21_000, 0x0b),
    ]) {
      const error = await send(prey, name, bytes);
      expect(error).not.toBeNull();
      expectDiscreet(error?.details ?? "");
    }
  });

  it("answers every hostile value of every member with a code of the catalogue", async () => {
    let ids = await begun(prey);
    let tried = 0;
    for (const request of variants(ROWS[name].request(ids))) {
      const answered = await prey.call(name, request);
      expectAnswer(answered);
      tried += 1;
      // Some of them end the transaction: the next one gets another.
      if (tried % 40 === 0) ids = await begun(prey);
    }
    expect(tried).toBeGreaterThan(0);
    expect((await prey.call("listTransactions", ROWS.listTransactions.request(ids))).code).toBe(
      "OK",
    );
  });

  it("mentions nothing of the owner when it is asked for the owner's ids", async () => {
    const { code, message, answer } = await prey.call(name, ROWS[name].request(secret));
    if (code !== "OK") expectDiscreet(message, secret.transactionId);
    const text = JSON.stringify(answer, (_key, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    expect(text ?? "").not.toContain(secret.transactionId);
  });

  it("is refused past the tenant's rate, with a time to wait", async () => {
    const client = new RawClient(slow.address);
    const ids: Ids = { transactionId: "none", effectId: "none/1" };
    const answers: Answered[] = [];
    for (let count = 0; count < RATE; count += 1) {
      answers.push(await client.call("listTransactions", ROWS.listTransactions.request(ids)));
    }
    answers.push(await client.call(name, ROWS[name].request(ids)));
    expect(answers.at(-1)?.code).toBe("RESOURCE_EXHAUSTED");
    expectDiscreet(answers.at(-1)?.message ?? "");
    client.close();
    // The bucket is empty for everybody of this tenant: the next call begins with a full one.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  });
});

describe("over HTTP", () => {
  const routes = [...UNARY_ROUTES, ...STREAM_ROUTES].map((route) => [route.call, route] as const);
  type Route = (typeof routes)[number][1];

  async function ask(route: Route, id: string, init: RequestInit = {}, who = "prey") {
    const path = route.path.replace(/\{\w+\}/, id);
    const post = route.method === "post";
    const response = await fetch(at.httpUrl + path, {
      method: route.method,
      ...(post ? { body: "{}" } : {}),
      ...init,
      headers: {
        authorization: `Bearer ${tokens.get(who)}`,
        ...(post ? { "content-type": "application/json" } : {}),
        ...init.headers,
      },
      signal: AbortSignal.timeout(5_000),
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream) await response.body?.cancel();
    const text = isStream ? "" : await response.text();
    if (!response.ok) expectDiscreet(text, secret.transactionId);
    return { status: response.status, text };
  }

  /** The row's request as the JSON of a body, without what stands in the path. */
  function bodyOf(route: Route, ids: Ids): string {
    const request: Record<string, unknown> = {};
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const [name, member] of Object.entries(ROWS[route.call].request(ids))) {
      if (inPath.includes(name)) continue;
      if (typeof member === "object" && member !== null && "$case" in member) {
        const { $case, value } = member as { $case: string; value: unknown };
        request[$case] = value;
      } else request[name] = member;
    }
    return JSON.stringify(request, (_key, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
  }

  const idIn = (route: Route, ids: Ids) =>
    route.path.includes("{workflowId}") ? OWN_FLOW.workflowId : ids.transactionId;

  it.each(routes.filter(([, { method }]) => method === "post"))(
    "%s refuses a body that is too large, no JSON, of another type, or has a member too many",
    async (_name, route) => {
      const { transactionId } = await begun(prey);
      const tooLarge = JSON.stringify({ requestId: "x".repeat(BYTES_MAX) });
      expect((await ask(route, transactionId, { body: tooLarge })).status).toBe(413);
      for (const body of ["{", "[]", "null", "7", '"x"', '{"no":1}', '{"__proto__":{"a":1}}']) {
        expect([body, (await ask(route, transactionId, { body })).status]).toEqual([body, 400]);
      }
      const headers = { "content-type": "text/plain" };
      expect((await ask(route, transactionId, { headers })).status).toBe(400);
    },
  );

  it.each(routes.filter(([, { path }]) => path.includes("{")))(
    "%s finds nothing behind a path that leads elsewhere",
    async (_name, route) => {
      for (const id of [
        "..%2f..%2fvault%2fkeys",
        "%2e%2e",
        "%00",
        "a%2fb",
        "%1b%5b2J",
        "x".repeat(2_000),
      ]) {
        const { status } = await ask(route, id, { body: route.method === "post" ? "{}" : null });
        expect([id, status >= 400 && status < 500]).toEqual([id, true]);
      }
    },
  );

  it.each(routes.filter(([, { call }]) => ROWS[call].foreign === "NOT_FOUND"))(
    "%s does not find the ids of another tenant, in the path or in the body",
    async (_name, route) => {
      const body = route.method === "post" ? bodyOf(route, secret) : null;
      const query = route.path === "/v1/events" ? `?transactionId=${secret.transactionId}` : "";
      const target = { ...route, path: route.path + query };
      const { status, text } = await ask(target, idIn(route, secret), { body });
      expect([status, text]).toEqual([404, expect.stringContaining("NOT_FOUND")]);
    },
  );

  it("is held to the tenant's rate", async () => {
    const url = `${slow.httpUrl}/v1/transactions`;
    const statuses: number[] = [];
    for (let count = 0; count <= RATE; count += 1) statuses.push((await fetch(url)).status);
    expect(statuses).toEqual([...Array.from({ length: RATE }, () => 200), 429]);
  });
});
