// Goal: the faces tell the truth about themselves. Method: routes, documents, reflection and metrics
// are compared with the protocol and with a running server.

import { readFileSync } from "node:fs";
import { NOT_OVER_HTTP, STREAM_ROUTES, UNARY_ROUTES } from "@agenttx/server";
import { agentTxService } from "@agenttx/wire";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { between, openApiText, settingsTable } from "../../packages/server/scripts/documents.mjs";
import { startTestServer, type TestServer } from "./test-server.js";

const docs = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

let at: TestServer;
beforeAll(async () => {
  at = await startTestServer();
});
afterAll(() => at.remove());

describe("parity", () => {
  it("gives every call of the protocol an HTTP route, or a reason why not", () => {
    const routed = [...UNARY_ROUTES, ...STREAM_ROUTES].map(({ call }) => call);
    expect([...routed, ...NOT_OVER_HTTP].sort()).toEqual(Object.keys(agentTxService).sort());
  });

  it("answers streams as streams and the rest as documents", () => {
    for (const { call } of UNARY_ROUTES) expect(agentTxService[call].responseStream).toBe(false);
    for (const { call } of STREAM_ROUTES) expect(agentTxService[call].responseStream).toBe(true);
  });

  it("fills each name in a path into a member that the request has", async () => {
    const document = JSON.parse(docs("openapi.json"));
    for (const { path, method, call } of [...UNARY_ROUTES, ...STREAM_ROUTES]) {
      const operation = document.paths[path][method];
      expect(operation.operationId).toBe(call);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = operation.parameters
        .filter((one: { in: string }) => one.in === "path")
        .map((one: { name: string }) => one.name);
      expect(named).toEqual(inPath);
    }
  });
});

describe("documents", () => {
  it("serves the OpenAPI document that is committed", async () => {
    const served = await (await fetch(`${at.httpUrl}/openapi.json`)).json();
    expect(served).toEqual(JSON.parse(docs("openapi.json")));
    expect(docs("openapi.json"), "run the documents script").toBe(openApiText());
  });

  it("lists every setting in docs/server.md", () => {
    const page = docs("server.md");
    expect(page, "run the documents script").toBe(between(page, "settings", settingsTable()));
  });

  it("names in docs/server.md exactly the metrics of its own that it serves", async () => {
    const text = await (await fetch(`${at.httpUrl}/metrics`)).text();
    const served = [...text.matchAll(/^# TYPE (agenttx_\w+) /gm)].map(([, name]) => name);
    const named = [...docs("server.md").matchAll(/^\| `(agenttx_\w+)`/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(served.sort());
  });
});

describe("health", () => {
  it("is alive, and ready with the state of recovery", async () => {
    await at.server.recovered;
    expect(await (await fetch(`${at.httpUrl}/healthz`)).json()).toEqual({ status: "alive" });
    const ready = await fetch(`${at.httpUrl}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ ready: true, recovery: { done: true } });
  });

  it("speaks grpc.health.v1 for the server and for the service", async () => {
    for (const service of ["", "agenttx.v1.AgentTxService"]) {
      expect(await health(at.address, service)).toBe("SERVING");
    }
    await expect(health(at.address, "no.such.Service")).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
    });
  });

  it("turns to not ready when it drains, and to nothing else", async () => {
    const draining = await startTestServer();
    try {
      draining.server.drain();
      expect(await health(draining.address, "")).toBe("NOT_SERVING");
      const ready = await fetch(`${draining.httpUrl}/readyz`);
      const state = (await ready.json()) as { reasons: string[] };
      expect([ready.status, state.reasons]).toEqual([503, ["draining"]]);
      expect((await fetch(`${draining.httpUrl}/healthz`)).status).toBe(200);
    } finally {
      await draining.remove();
    }
  });
});

describe("reflection", () => {
  it("lists the service on loopback, and is absent when it is switched off", async () => {
    expect(await reflectedServices(at.address)).toContain("agenttx.v1.AgentTxService");
    const closed = await startTestServer({ reflection: false });
    try {
      await expect(reflectedServices(closed.address)).rejects.toMatchObject({
        code: grpc.status.UNIMPLEMENTED,
      });
    } finally {
      await closed.remove();
    }
  });
});

async function health(address: string, service: string): Promise<string> {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  // One field each: the service's name in, an enum out.
  const encode = (name: string) =>
    Buffer.concat([Buffer.from([0x0a, Buffer.byteLength(name)]), Buffer.from(name)]);
  const decode = (bytes: Buffer) => bytes[1] ?? 0;
  try {
    const status = await new Promise<number>((resolve, reject) => {
      client.makeUnaryRequest(
        "/grpc.health.v1.Health/Check",
        encode,
        decode,
        service,
        (error, it) => (error ? reject(error) : resolve(it ?? 0)),
      );
    });
    return ["UNKNOWN", "SERVING", "NOT_SERVING"][status] ?? "?";
  } finally {
    client.close();
  }
}

/** Over the reflection protocol's own proto, which the reflection package ships. */
async function reflectedServices(address: string): Promise<string[]> {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  // ServerReflectionRequest { list_services (7): "*" }
  const request = Buffer.from([0x3a, 0x01, 0x2a]);
  try {
    return await new Promise((resolve, reject) => {
      const stream = client.makeBidiStreamRequest(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes.toString("latin1"),
      );
      stream.on("data", (text: string) => {
        resolve([...text.matchAll(/[a-z][\w.]+\.[A-Z]\w+/g)].map(([name]) => name));
        stream.end();
      });
      stream.on("error", reject);
      stream.write(request);
    });
  } finally {
    client.close();
  }
}
