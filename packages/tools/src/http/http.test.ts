// Goal: http.request sends what it is given and tells what came back, errors in words that hints can
// read. Method: a real service on the loopback.

import { cleanError } from "@agenttx/hints";
import { describe, expect, it } from "vitest";
import { toolContext } from "../testing/context.js";
import { errorOf, get, LOOPBACK, openHttpBench, send } from "../testing/http-bench.js";
import { httpTools } from "./tools.js";

const { service, make } = await openHttpBench();

describe("http.request", () => {
  it("answers status, headers and body", async () => {
    const url = `${service.origin}/bookings`;
    const body = { item: "room" };
    const context = toolContext({ key: "answer-1" });
    expect(await send(make(), { method: "POST", url, body }, context)).toEqual({
      status: 201,
      headers: { "content-type": "application/json", etag: '"1"' },
      body: { id: expect.any(Number), item: "room", status: "booked" },
    });
    expect(service.seen[0]?.headers).toMatchObject({
      "idempotency-key": "answer-1",
      "content-type": "application/json",
    });
  });

  it("reads text, bytes and nothing as what they are", async () => {
    const tools = make();
    service.answer = () => [200, "plain"];
    expect(await get(tools, service.origin)).toMatchObject({ body: "plain" });
    service.answer = () => [200, "zipped", { "content-encoding": "gzip" }];
    expect(await get(tools, service.origin)).toMatchObject({ body: { base64: "emlwcGVk" } });
    service.answer = () => [200, ""];
    expect(await get(tools, service.origin)).toMatchObject({ body: null });
    service.answer = () => [200, "{broken", { "content-type": "application/json" }];
    expect(await get(tools, service.origin)).toMatchObject({ body: "{broken" });
  });

  it("sends no idempotency key with a read", async () => {
    await errorOf(get(make(), `${service.origin}/bookings/1`));
    expect(service.seen[0]?.headers["idempotency-key"]).toBeUndefined();
  });

  it("is read-only, staged or reversible by method and rules", () => {
    const [tool] = make({
      calls: [
        { method: "POST", path: "bookings", cancel: { method: "DELETE", path: "x" } },
        { method: "PUT", path: "bookings/*" },
      ],
    });
    const effect = tool.effect;
    if (typeof effect !== "function") throw new Error("the class depends on the arguments");
    const of = (method: "GET" | "POST" | "PUT" | "DELETE", path: string) =>
      effect({ method, url: service.origin + path });
    expect(of("GET", "/bookings")).toBe("read-only");
    expect(of("POST", "/bookings")).toBe("reversible");
    expect(of("POST", "/bookings/")).toBe("reversible");
    expect(of("POST", "/bookings/7")).toBe("irreversible");
    expect(of("PUT", "/bookings/7")).toBe("irreversible");
    expect(of("DELETE", "/bookings")).toBe("irreversible");
    expect(tool.irreversible).toBe("staged");
  });

  it("stops reading an answer that is too long", async () => {
    service.answer = () => [200, "x".repeat(1_001)];
    const tools = make({}, { bytesMax: 1_000 });
    const error = await errorOf(get(tools, service.origin));
    expect(error.message).toContain("longer than 1000 bytes");
  });

  it("stops a call that takes too long, without a claim about it", async () => {
    const held = service.hold("after");
    const tools = make({}, { timeoutMs: 60 });
    const args = { method: "POST", url: `${service.origin}/bookings`, body: { item: "slow" } };
    const error = await errorOf(send(tools, args, toolContext({ key: "slow" })));
    expect([error.name, error.definite]).toEqual(["TimeoutError", undefined]);
    held.release();
  });
});

describe("an answer that is no success", () => {
  const post = (tools = make()) =>
    errorOf(send(tools, { method: "POST", url: `${service.origin}/bookings`, body: {} }));

  it("is worded for hints: the field that the service complains about, and the wait", async () => {
    const error = await post();
    expect(error.message).toMatch(/^HTTP\/1\.1 422 Unprocessable Entity\n\n\{"detail":/);
    expect(cleanError(error)).toMatchObject({ category: "missing_field", key: "item" });
    service.answer = () => [429, "slow down", { "retry-after": "2" }];
    expect(cleanError(await post())).toMatchObject({
      category: "rate_limited",
      retryable: true,
      retryAfterMs: 2_000,
    });
  });

  it("is definite only when its status says that nothing happened", async () => {
    const definite: number[] = [];
    for (const status of [301, 302, 307, 400, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504]) {
      service.answer = () => [status, "", { location: "/elsewhere" }];
      if ((await post()).definite === true) definite.push(status);
    }
    expect(definite).toEqual([307, 400, 404, 422, 429]);
  });

  it("takes See Other for the success that it is", async () => {
    service.answer = () => [303, "", { location: "/bookings/7" }];
    const answer = await send(make(), { method: "POST", url: `${service.origin}/bookings` });
    expect(answer).toMatchObject({ status: 303, headers: { location: "/bookings/7" } });
  });

  it("gives the body capped", async () => {
    service.answer = () => [500, "x".repeat(200_000)];
    expect((await post()).message.length).toBeLessThan(66_000);
  });

  it("is definite when no connection was made, and not when one broke", async () => {
    const closed = httpTools({ allow: [{ url: "http://127.0.0.1:9", networks: LOOPBACK }] });
    const refused = await errorOf(send(closed, { method: "POST", url: "http://127.0.0.1:9/" }));
    expect(refused).toMatchObject({ definite: true, code: "ECONNREFUSED" });
    const tools = make();
    const held = service.hold("before");
    const breaking = post(tools);
    await held.arrived;
    service.cut();
    held.release();
    const broken = await breaking;
    expect([broken.definite, "code" in broken && broken.code]).toEqual([undefined, "ECONNRESET"]);
  });
});

describe("secrets", () => {
  const secrets = { get: (name: string) => (name === "TOKEN" ? "s3cr3t" : null) };
  const reference = `Bearer ${"${"}secrets.TOKEN}`;
  const headers = { authorization: reference };

  it("come from the source when the call is made, and are taken out of what comes back", async () => {
    const tools = make({ headers }, { secrets });
    service.answer = (seen) => [200, `you sent ${seen.headers.authorization}`];
    expect(await get(tools, service.origin)).toMatchObject({
      body: `you sent ${reference}`,
    });
    service.answer = (seen) => [500, { sent: seen.headers.authorization }];
    const error = await errorOf(get(tools, service.origin));
    expect(JSON.stringify([error.message, error])).not.toContain("s3cr3t");
  });

  it("that are missing stop the call before anything is sent", async () => {
    const tools = make({ headers });
    expect(await errorOf(get(tools, service.origin))).toMatchObject({ definite: true });
    expect(service.seen).toEqual([]);
  });
});
