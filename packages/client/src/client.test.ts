// Goal: what a client promises without a server: settings, states, types.
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { type AgentTxClient, createClient } from "./index.js";
import { reconnectDelay } from "./reconnect-delay.js";

const clients: AgentTxClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

function away(options: { deadlineMs?: number; transport?: "session" | "unary" } = {}) {
  const client = createClient({ address: "127.0.0.1:1", deadlineMs: 200, ...options });
  clients.push(client);
  return client;
}

describe("a client without a server", () => {
  it.each(["session", "unary"] as const)("says so after its deadline (%s)", async (transport) => {
    await expect(away({ transport }).begin()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it.each(["session", "unary"] as const)(
    "ends calls at once when it is closed (%s)",
    async (transport) => {
      const client = away({ transport, deadlineMs: 60_000 });
      const call = client.begin();
      call.catch(() => {});
      await client.close();
      await expect(call).rejects.toMatchObject({ code: "CLOSED" });
      await expect(client.begin()).rejects.toMatchObject({ code: "CLOSED" });
      await client.close();
    },
  );

  it.each(["session", "unary"] as const)("stops waiting when told to (%s)", async (transport) => {
    const stop = new AbortController();
    const call = away({ transport, deadlineMs: 60_000 }).begin({ signal: stop.signal });
    call.catch(() => {});
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
  });

  it("refuses settings that cannot be", () => {
    const make = (options: object) => () => createClient(options as never);
    expect(make({ address: "" })).toThrow(/address/);
    expect(make({ address: "a:1", deadlineMs: 0 })).toThrow(/deadlineMs/);
    expect(make({ address: "a:1", tls: { certFile: "x" } })).toThrow(/go together/);
    expect(make({ address: "a:1", tls: { caFile: "/none" } })).toThrow(/cannot be read/);
  });

  it("refuses an empty request id, which would be none", async () => {
    await expect(away().begin({ requestId: "" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("types", () => {
  const tools = [
    { name: "add", execute: (args: { a: number; b: number }) => ({ sum: args.a + args.b }) },
  ] as const;

  it("carry arguments and output of known tools, and let others pass", () => {
    type Client = ReturnType<typeof createClient<typeof tools>>;
    type Tx = Awaited<ReturnType<Client["begin"]>>;
    const typed = (tx: Tx) => tx.step("add", { a: 1, b: `${"$"}{steps.1.sum}` as const });
    type Success = Extract<Awaited<ReturnType<typeof typed>>, { status: "SUCCESS" }>;
    expectTypeOf<Success["output"]>().toEqualTypeOf<{ sum: number }>();
    // @ts-expect-error: not an argument of this tool
    const wrong = (tx: Tx) => tx.step("add", { a: 1, c: 2 });
    const unknown = (tx: Tx) => tx.step("another", { anything: true });
    expect([typed, wrong, unknown]).toHaveLength(3);
  });
});

describe("the reconnect delay", () => {
  it("grows to a second and is never nothing", () => {
    for (let failures = 0; failures < 40; failures += 1) {
      for (const random of [0, 0.5, 0.999]) {
        const delay = reconnectDelay(failures, random);
        expect(delay).toBeGreaterThanOrEqual(25);
        expect(delay).toBeLessThanOrEqual(1_000);
      }
    }
  });
});
