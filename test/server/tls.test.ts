// Goal: TLS and mutual TLS let in whom they should and nobody else, on both faces, and a public address
// is refused without them. Method: certificates of two authorities, made for the test.

import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { type ClientOptions, createClient } from "@agenttx/client";
import { createToken, loadConfig } from "@agenttx/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority, hasOpenssl, type Signed } from "./certificates.js";
import { agentTools, startTestServer, type TestServer, testRoot } from "./test-server.js";

describe("a public address", () => {
  const load = (flags: Record<string, unknown>) => () => loadConfig({ flags, environment: {} });
  const tls = { tlsCert: "c", tlsKey: "k" };

  it.each([
    ["alone", { listen: "0.0.0.0:1" }],
    ["on the HTTP face", { httpListen: "[::]:1" }],
    ["by name", { listen: "example.org:1" }],
    ["with TLS but without knowing who calls", { listen: "0.0.0.0:1", ...tls }],
    ["with tokens in clear text", { listen: "0.0.0.0:1", tokensFile: "t" }],
  ])("%s is refused with a line that says what is missing", (_what, flags) => {
    expect(load(flags)).toThrow(/is not loopback: it needs .*--tls-cert.*or --insecure/);
  });

  it.each([
    ["with TLS and tokens", { listen: "0.0.0.0:1", ...tls, tokensFile: "t" }],
    ["with mutual TLS", { listen: "0.0.0.0:1", ...tls, tlsClientCa: "a" }],
    ["with --insecure", { listen: "0.0.0.0:1", insecure: true }],
    ["that is none", { listen: "127.8.8.8:1", httpListen: "[::1]:1" }],
    ["that is a socket", { listen: "unix:/x", httpListen: "off" }],
  ])("%s is served", (_what, flags) => {
    expect(load(flags)).not.toThrow();
  });
});

// Without openssl there are no certificates to test with; the settings above are tested all the same.
describe.skipIf(!hasOpenssl())("certificates", () => {
  const root = testRoot();
  const tokensFile = join(root, "tokens.json");
  let ours: Authority;
  let server: Signed;
  let acme: Signed;
  let stranger: Signed;
  let token: string;
  let plain: TestServer;
  let mutual: TestServer;

  beforeAll(async () => {
    ours = new Authority(root, "ours");
    server = ours.sign("server");
    acme = ours.sign("acme");
    stranger = new Authority(root, "theirs").sign("acme");
    const entry = { name: "t", tenant: "one", tools: null, expiresAt: null };
    token = createToken(tokensFile, { ...entry, scopes: ["run", "read"] });
    const tls = { tlsCert: server.cert, tlsKey: server.key };
    plain = await startTestServer({ ...tls, tokensFile }, agentTools(), testRoot());
    mutual = await startTestServer({ ...tls, tlsClientCa: ours.cert }, agentTools(), testRoot());
  }, 60_000);
  afterAll(async () => {
    await plain.remove();
    await mutual.remove();
  });

  async function agentOf(options: ClientOptions): Promise<string> {
    const client = createClient({ deadlineMs: 1_500, ...options });
    try {
      return (await (await client.begin({ agentId: "a" })).view()).agentId;
    } finally {
      await client.close();
    }
  }

  it("serve a client with a token that knows the authority", async () => {
    const { address } = plain;
    expect(await agentOf({ address, token, tls: { caFile: ours.cert } })).toBe("a");
    await expect(agentOf({ address, tls: { caFile: ours.cert } })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
  });

  it("serve nobody in clear text, and no client that does not know the authority", async () => {
    const { address } = plain;
    for (const tls of [undefined, {}, { caFile: stranger.cert }]) {
      const given = { address, token, ...(tls === undefined ? {} : { tls }) };
      await expect(agentOf(given)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
  });

  it("make the common name of a client the tenant", async () => {
    const { address } = mutual;
    const tls = { caFile: ours.cert, certFile: acme.cert, keyFile: acme.key };
    const client = createClient({ address, tls });
    const tx = await client.begin();
    const other = ours.sign("globex");
    const theirs = createClient({
      address,
      tls: { caFile: ours.cert, certFile: other.cert, keyFile: other.key },
    });
    await expect(theirs.get(tx.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await tx.abort();
    await client.close();
    await theirs.close();
  });

  it("of another authority, or none, do not get in", async () => {
    const { address } = mutual;
    const foreign = { caFile: ours.cert, certFile: stranger.cert, keyFile: stranger.key };
    for (const tls of [{ caFile: ours.cert }, foreign]) {
      await expect(agentOf({ address, tls })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
  });

  it("hold for HTTP as well", async () => {
    const url = new URL("/v1/transactions", mutual.httpUrl);
    const ca = readFileSync(ours.cert);
    const get = (more: object) =>
      new Promise<number | string>((resolve) => {
        request(url, { ca, ...more }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on("error", () => resolve("refused"))
          .end();
      });
    const pair = ({ cert, key }: Signed) => ({ cert: readFileSync(cert), key: readFileSync(key) });
    expect(await get(pair(acme))).toBe(200);
    expect(await get({})).toBe("refused");
    expect(await get(pair(stranger))).toBe("refused");
  });

  it("that cannot be read stop the start with the flag's name", async () => {
    const start = (flags: object) => startTestServer({ tlsKey: server.key, ...flags });
    await expect(start({ tlsCert: join(root, "none.pem") })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("--tls-cert"),
    });
    await expect(start({ tlsCert: tokensFile })).rejects.toMatchObject({
      message: expect.stringContaining("is no PEM file"),
    });
  });
});
