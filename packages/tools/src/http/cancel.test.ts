// Goal: calls are found and cancelled by the rules of the deployment; what no rule decides is not
// decided. Method: a real service on the loopback.

import type { JsonValue } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { toolContext, undoContext } from "../testing/context.js";
import { errorOf, openHttpBench, send } from "../testing/http-bench.js";

const { service, make } = await openHttpBench();

describe("cancelling", () => {
  const rule = {
    method: "POST",
    path: "bookings",
    cancel: { method: "DELETE", path: "bookings/{output.body.id}", ifMatch: true },
  } as const;
  const args = { method: "POST", url: `${service.origin}/bookings`, body: { item: "x" } } as const;
  const cancel = async (key: string, tools = make({ calls: [rule] })) => {
    const output = (await send(tools, args, toolContext({ key }))) as never;
    return async () => tools[0].compensate?.({ args, output }, undoContext(key));
  };

  it("carries a key of its own, the same for each try", async () => {
    const undo = await cancel("cancel-1");
    expect(await undo()).toEqual({ status: "undone" });
    expect(await undo()).toEqual({ status: "already-undone" });
    const keys = service.seen.slice(1).map((seen) => seen.headers["idempotency-key"]);
    expect(keys).toEqual(["undo-cancel-1", "undo-cancel-1"]);
  });

  it("is for a person when it is too late", async () => {
    const undo = await cancel("cancel-2");
    service.database.exec("UPDATE bookings SET status = 'collected' WHERE key = 'cancel-2'");
    expect(await undo()).toEqual({
      status: "dirty",
      expected: 'version "1"',
      found: '409 Conflict: {"error":"already collected"}',
    });
  });

  it("is tried again after a status that decides nothing", async () => {
    const undo = await cancel("cancel-3");
    for (const status of [500, 429, 403, 302]) {
      service.answer = () => [status, "no"];
      await expect(undo()).rejects.toThrow(`HTTP/1.1 ${status}`);
    }
    service.answer = () => null;
    expect(await undo()).toEqual({ status: "undone" });
  });

  it("reads statuses as the rule says", async () => {
    const calls = [{ ...rule, cancel: { ...rule.cancel, gone: [409], conflict: [410] } }];
    const undo = await cancel("cancel-4", make({ calls }));
    service.answer = () => [409, ""];
    expect(await undo()).toEqual({ status: "already-undone" });
    service.answer = () => [410, ""];
    expect(await undo()).toMatchObject({ status: "dirty" });
  });

  it("is for a person when the answer is lost and nobody can be asked", async () => {
    const [tool] = make({ calls: [rule] });
    const undo = await tool.compensate?.({ args, output: null }, undoContext("lost"));
    expect(undo).toMatchObject({ status: "dirty" });
    expect(service.seen).toEqual([]);
  });

  it("encodes values, so that none leads elsewhere", async () => {
    const calls = [
      { ...rule, cancel: { method: "DELETE", path: "bookings/{request.body.item}" } },
    ] as const;
    const [tool] = make({ calls });
    const undo = async (item: string) =>
      tool.compensate?.({ args: { ...args, body: { item } }, output: null }, undoContext());
    await errorOf(undo("../admin?x=y#z"));
    expect(service.seen.map(({ path }) => path)).toEqual([]);
    await undo("a b?c");
    expect(service.seen.map(({ path }) => path)).toEqual(["/bookings/a%20b%3Fc"]);
    for (const item of ["..", ".", ""])
      expect((await errorOf(undo(item))).message).toContain("segment");
  });

  it("sends a body made of what is known", async () => {
    const body = { id: "{output.body.id}", why: "undo of {key}", list: [true] };
    const path = "bookings/cancel";
    const calls = [{ ...rule, cancel: { method: "POST", path, body } }] as const;
    const undo = await cancel("cancel-5", make({ calls }));
    service.answer = () => [200, {}];
    expect(await undo()).toEqual({ status: "undone" });
    expect(JSON.parse(service.seen.at(-1)?.body ?? "")).toEqual({
      id: expect.any(Number),
      why: "undo of cancel-5",
      list: [true],
    });
  });
});

describe("lookup", () => {
  const args = { method: "POST", url: `${service.origin}/bookings`, body: { item: "x" } } as const;
  const ask = async (lookup: object, body: JsonValue, status = 200) => {
    service.answer = () => [status, body];
    const calls = [
      { method: "POST", path: "bookings", lookup: { path: "find?key={key}", ...lookup } },
    ] as const;
    const [tool] = make({ calls });
    return tool.lookup?.({ args, idempotencyKey: "a/b" }, undoContext("a/b"));
  };

  it("finds the body inside a list, and an empty list absent", async () => {
    const found = await ask({ at: "items.0" }, { items: [{ id: 7 }] });
    expect(found).toMatchObject({ status: "landed", output: { status: 200, body: { id: 7 } } });
    expect(service.seen[0]?.path).toBe("/find?key=a%2Fb");
    expect(await ask({ at: "items.0" }, { items: [] })).toEqual({ status: "absent", final: false });
    expect(await ask({ final: true }, {}, 404)).toEqual({ status: "absent", final: true });
  });

  it("takes what is cancelled for absent for good", async () => {
    const cancelled = { field: "state", values: ["void", null] };
    expect(await ask({ cancelled }, { state: "void" })).toEqual({ status: "absent", final: true });
    expect(await ask({ cancelled }, { state: "open" })).toMatchObject({ status: "landed" });
  });

  it("says nothing when the service fails, and unknown without a rule", async () => {
    await expect(ask({}, {}, 500)).rejects.toThrow("HTTP/1.1 500");
    const [tool] = make();
    const answer = await tool.lookup?.({ args, idempotencyKey: "k" }, undoContext());
    expect(answer).toEqual({ status: "unknown" });
  });
});
