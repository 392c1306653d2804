// Goal: a staged effect is posted once it is told to, with its key, and only where it may be posted.
// Method: a real receiver on the loopback.

import { describe, expect, it } from "vitest";
import { LOOPBACK, openHttpBench } from "../testing/http-bench.js";
import { webhookSink } from "./webhook.js";

const { service } = await openHttpBench();

describe("webhook sink", () => {
  const effect = { idempotencyKey: "k-1", transaction: "t", step: 3, payload: { to: "x" } };
  const { signal } = new AbortController();
  const sink = (more: Partial<Parameters<typeof webhookSink>[0]> = {}) =>
    webhookSink({ url: `${service.origin}/hook`, networks: LOOPBACK, ...more });

  it("posts the effect with its key, signed as Standard Webhooks are", async () => {
    service.answer = () => [202, ""];
    const signingSecret = `${"${"}secrets.HOOK}`;
    const secrets = { get: () => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" };
    await sink({ signingSecret, secrets, now: () => 1_614_265_330_000 }).deliver(effect, signal);
    const [seen] = service.seen;
    expect(JSON.parse(seen?.body ?? "")).toEqual(effect);
    expect(seen?.headers).toMatchObject({
      "idempotency-key": "k-1",
      "webhook-id": "k-1",
      "webhook-timestamp": "1614265330",
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });

  it("tells a repeat, and throws what is no success", async () => {
    const one = sink({ duplicateStatuses: [409] });
    service.answer = () => [409, ""];
    expect(await one.deliver(effect, signal)).toEqual({ duplicate: true });
    service.answer = () => [503, "later"];
    await expect(one.deliver(effect, signal)).rejects.toThrow("HTTP/1.1 503");
    service.answer = () => [302, "", { location: "http://169.254.169.254/" }];
    await expect(one.deliver(effect, signal)).rejects.toThrow("HTTP/1.1 302");
  });

  it("asks whether a key has arrived, where it can", async () => {
    expect(sink().has).toBeUndefined();
    const one = sink({ lookupUrl: `${service.origin}/seen/{key}` });
    service.answer = ({ path }) => [path === "/seen/a%20b" ? 200 : 404, ""];
    expect(await one.has?.("a b")).toBe(true);
    expect(await one.has?.("c")).toBe(false);
    service.answer = () => [500, ""];
    await expect(one.has?.("c")).rejects.toThrow("HTTP/1.1 500");
  });

  it("posts to no private address that is not listed", async () => {
    const one = webhookSink({ url: `${service.origin}/hook` });
    await expect(one.deliver(effect, signal)).rejects.toMatchObject({ code: "EACCES" });
    expect(() => webhookSink({ url: "hook" })).toThrow(
      expect.objectContaining({ code: "TOOL_INVALID" }),
    );
  });
});
