// Goal: nothing that comes in over a port can bring the server down, make it tell its insides, or reach
// what a JSON document must not reach. Method: bytes and documents made by fast-check and by hand; a
// good call after each round.

import { constants, connect as http2Connect } from "node:http2";
import { connect } from "node:net";
import { createClient } from "@agenttx/client";
import { agentTxService, session, steps } from "@agenttx/wire";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "./test-server.js";

let at: TestServer;
let id: string;
let channel: Client;
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => uncaught.push(error);

beforeAll(async () => {
  process.on("unhandledRejection", onUncaught);
  at = await startTestServer();
  channel = new Client(at.address, credentials.createInsecure());
  id = await begun();
});
afterEach(async () => {
  expect(uncaught).toEqual([]);
  const response = await fetch(`${at.httpUrl}/v1/transactions/${id}`);
  expect(response.status).toBe(200);
  const client = createClient({ address: at.address, deadlineMs: 5_000 });
  expect((await client.get(id)).status).toBe("ACTIVE");
  await client.close();
});
afterAll(async () => {
  process.off("unhandledRejection", onUncaught);
  channel.close();
  await at.remove();
});

/** A transaction of its own, for a test that may move it on. */
async function begun(): Promise<string> {
  const client = createClient({ address: at.address });
  const { id: fresh } = await client.begin();
  await client.close();
  return fresh;
}

/** No path of this machine, no stack, no name of a class or module. */
function expectDiscreet(text: string): void {
  expect(text).not.toMatch(
    /\bat .*\(.*:\d+:\d+\)|node_modules|\.[jt]s:\d+|\/(home|tmp|work|root|usr)\//,
  );
}

const asIs = (bytes: Buffer): Buffer => bytes;

function sendBytes(path: string, bytes: Buffer): Promise<ServiceError | null> {
  return new Promise((resolve) => {
    channel.makeUnaryRequest(path, asIs, asIs, bytes, (error) => resolve(error));
  });
}

describe("bytes on the gRPC port", () => {
  it("that are no HTTP/2 at all end their connection only", async () => {
    const { grpcPort } = at.server;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 400 }), async (bytes) => {
        await new Promise<void>((resolve) => {
          const socket = connect(grpcPort ?? 0, "127.0.0.1", () => {
            socket.write(bytes);
            setTimeout(() => socket.destroy(), 5);
          });
          socket.on("error", () => {}).on("close", () => resolve());
        });
      }),
      { numRuns: 50 },
    );
  });

  it("as messages of every unary call are answered with a code, discreetly", async () => {
    const paths = Object.values(agentTxService)
      .filter(({ requestStream, responseStream }) => !requestStream && !responseStream)
      .map(({ path }) => path);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.uint8Array({ maxLength: 300 }),
        async (path, bytes) => {
          const error = await sendBytes(path, Buffer.from(bytes));
          if (error !== null) expectDiscreet(error.details);
        },
      ),
      { numRuns: 400 },
    );
  });

  it("that mutate a good step in one place never crash, and fields of a wrong type are refused", async () => {
    const good = Buffer.from(
      agentTxService.executeStep.requestSerialize(
        steps.ExecuteStepRequest.fromPartial({
          transactionId: await begun(),
          stepId: 99,
          toolName: "kv.get",
          argumentsJson: '{"key":"a"}',
          requestId: "r",
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), async (position, value) => {
        const bytes = Buffer.from(good);
        bytes[position] = value;
        const error = await sendBytes(agentTxService.executeStep.path, bytes);
        if (error !== null) expectDiscreet(error.details);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["21 KB of nested groups", Buffer.alloc(21_000, 0x0b)],
    ["a length that runs over the end", Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 0x41])],
    ["invalid UTF-8", Buffer.from([0x0a, 0x02, 0xc3, 0x28])],
    ["200,000 unknown fields", Buffer.alloc(400_000, Buffer.from([0x50, 0x01]))],
    ["a varint without an end", Buffer.alloc(64, 0xff)],
  ])("%s are refused or ignored", async (_what, bytes) => {
    for (const name of ["beginTransaction", "executeStep", "completeStep"] as const) {
      const error = await sendBytes(agentTxService[name].path, bytes);
      if (error !== null) expectDiscreet(error.details);
    }
  });

  it("inside a session end that session only", async () => {
    const { path } = agentTxService.session;
    for (const bytes of [Buffer.from([0xff, 0xff]), Buffer.alloc(0), Buffer.alloc(500, 0x0b)]) {
      const stream = channel.makeBidiStreamRequest(path, asIs, asIs);
      const over = new Promise<void>((resolve) => {
        stream.on("error", () => resolve());
        stream.on("data", () => stream.end());
        stream.on("end", () => resolve());
      });
      stream.write(bytes);
      await over;
    }
  });

  it("that pair a message with what it is not are refused by name", async () => {
    const wrong = session.SessionRequest.fromPartial({ correlationId: 4 });
    const { path, requestSerialize, responseDeserialize } = agentTxService.session;
    const stream = channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const answer = new Promise<session.SessionResponse>((resolve) => stream.once("data", resolve));
    stream.write(wrong);
    expect(await answer).toMatchObject({
      correlationId: 4,
      response: { $case: "error", value: { reason: "INVALID_ARGUMENT" } },
    });
    stream.end();
  });
});

describe("streams that are reset as soon as they are opened", () => {
  it("cost their own connection at most; others are served meanwhile", async () => {
    const attacker = http2Connect(`http://${at.address}`);
    attacker.on("error", () => {});
    const client = createClient({ address: at.address, deadlineMs: 10_000 });
    const { path } = agentTxService.getTransaction;
    const headers = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    };
    for (let burst = 0; burst < 20 && !attacker.destroyed && !attacker.closed; burst += 1) {
      for (let count = 0; count < 100 && !attacker.destroyed && !attacker.closed; count += 1) {
        const stream = attacker.request(headers);
        stream.on("error", () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
      expect((await client.get(id)).status).toBe("ACTIVE");
    }
    attacker.destroy();
    await client.close();
  });

  it("by a client that cancels now and then are no reason to cut it off", async () => {
    const client = createClient({ address: at.address, transport: "unary", deadlineMs: 10_000 });
    for (let count = 0; count < 100; count += 1) {
      const stop = new AbortController();
      const read = client.get(id, { signal: stop.signal });
      read.catch(() => {});
      stop.abort();
      await expect(read).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    }
    expect((await client.get(id)).status).toBe("ACTIVE");
    await client.close();
  });
});

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(at.httpUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const text = await response.text();
  expectDiscreet(text);
  return { status: response.status, text };
}

describe("documents over HTTP", () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  it("of any shape get a 2xx or 4xx and a problem that says nothing of the inside", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          "/v1/transactions",
          `/v1/transactions/${"x".repeat(36)}/steps`,
          "/v1/work/complete",
        ),
        fc.oneof(fc.json(), fc.string(), fc.string({ unit: "binary" })),
        async (path, body) => {
          const { status } = await post(path, body);
          expect(status).toBeGreaterThanOrEqual(200);
          expect(status).toBeLessThan(500);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("with members of every field that are not what they should be are refused", async () => {
    const fields = [
      "agentId",
      "metadata",
      "policy",
      "requestId",
      "isolation",
      "policy.maxLocalDepth",
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), fc.jsonValue(), async (field, value) => {
        const [outer = "", inner] = field.split(".");
        const body = { [outer]: inner === undefined ? value : { [inner]: value } };
        const { status } = await post("/v1/transactions", JSON.stringify(body));
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 200 },
    );
  });

  it("that are depth bombs are refused, as body and as arguments", async () => {
    const own = await begun();
    for (const levels of [100, 10_000, 100_000]) {
      const body = `{"metadata":${deep(levels)}}`;
      expect((await post("/v1/transactions", body)).status).toBe(400);
      const step = { stepId: 1, toolName: "kv.put", argumentsJson: deep(levels) };
      const { status, text } = await post(`/v1/transactions/${own}/steps`, JSON.stringify(step));
      // Arguments are the agent's: they fail, and the transaction goes on.
      expect([status, JSON.parse(text).status]).toEqual([200, "STEP_STATUS_ROLLBACK_TRIGGERED"]);
      const other = { workId: "w", workerId: "w", status: "undone", outputJson: deep(levels) };
      expect((await post("/v1/work/complete", JSON.stringify(other))).status).toBe(200);
    }
  });

  it("that try to reach a prototype reach nothing", async () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const { status } = await post("/v1/transactions", `{"${name}":{"admin":true}}`);
      expect(status).toBe(400);
      const metadata = await post("/v1/transactions", `{"metadata":{"${name}":"admin"}}`);
      expect(metadata.status).toBeLessThan(500);
      const query = await fetch(`${at.httpUrl}/v1/transactions?${name}=admin`);
      expect(query.status).toBe(400);
    }
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it("need their content type, a local Host, and nothing twice", async () => {
    expect((await post("/v1/transactions", "{}", { "content-type": "text/plain" })).status).toBe(
      400,
    );
    const { httpPort } = at.server;
    const rebound = await rawHttp(
      httpPort ?? 0,
      "GET /v1/transactions HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    );
    expect(rebound).toMatch(/^HTTP\/1\.1 403 /);
    const twice = await post(`/v1/transactions/${id}/steps`, `{"transactionId":"other"}`);
    expect(twice.status).toBe(400);
  });

  it("are read by number, list and text alike in a query", async () => {
    const ask = async (query: string) => {
      const response = await fetch(`${at.httpUrl}/v1/transactions?${query}`);
      expectDiscreet(await response.clone().text());
      return response.status;
    };
    expect(await ask("pageSize=1")).toBe(200);
    expect(await ask("statuses=ACTIVE&statuses=FROZEN&pageSize=10")).toBe(200);
    for (const bad of [
      "pageSize=-1",
      "pageSize=x",
      "pageSize=99999999999",
      "statuses=NONE",
      "no=1",
    ]) {
      expect([bad, await ask(bad)]).toEqual([bad, 400]);
    }
    const audit = (seq: string) =>
      fetch(`${at.httpUrl}/v1/transactions/${id}/audit?fromSeq=${seq}`);
    expect((await audit("1")).status).toBe(200);
    for (const bad of ["-1", "18446744073709551615", "1.5", "x"]) {
      expect([bad, (await audit(bad)).status]).toEqual([bad, 400]);
    }
  });

  it("that are no HTTP end their connection only", async () => {
    const { httpPort } = at.server;
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", minLength: 1, maxLength: 300 }),
        async (text) => {
          expectDiscreet(await rawHttp(httpPort ?? 0, `${text}\r\n\r\n`));
        },
      ),
      { numRuns: 30 },
    );
    const header = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nx: ${"a".repeat(20_000)}\r\n\r\n`;
    expect(await rawHttp(httpPort ?? 0, header)).toMatch(/^HTTP\/1\.1 431 /);
    for (const path of [
      "/%E0%A4%A",
      "/v1/transactions/%00",
      "/v1/../../etc/passwd",
      "//",
      "/.%2e/x",
    ]) {
      const answer = await rawHttp(
        httpPort ?? 0,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
      expect([path, answer.slice(9, 10)]).toEqual([path, "4"]);
      expectDiscreet(answer);
    }
  });
});

/** What comes back until the connection ends, or for a moment. */
function rawHttp(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    const done = setTimeout(() => socket.destroy(), 150);
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(done);
      resolve(text);
    });
  });
}
