// Goal: every kind of failure of R9 is an answer with a category and key, and leaves nothing; what
// is no failure of the agent throws.
import { AgentTxError } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { defineTool } from "../define-tool.js";
import { failNth, faultyStore } from "../testing/faulty-store.js";
import { echo, get, harness, put, ref, World } from "../testing/harness.js";
import { fields } from "../testing/schema.js";

describe("a failure is an answer (R9)", () => {
  it.each([
    ["arguments that are not JSON", { argumentsJson: "{oops" }, "syntax_error", null],
    ["arguments that are no object", { argumentsJson: "[1]" }, "type_mismatch", null],
    ["a __proto__ key", { argumentsJson: '{"__proto__":{"a":1}}' }, "invalid_value", null],
    ["nesting over 64", { argumentsJson: "[".repeat(70) + "]".repeat(70) }, "invalid_value", null],
  ])("%s", async (_name, options, category, key) => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    const outcome = await tx.step("put", { key: "a", value: 1 }, options);
    expect(outcome).toMatchObject({ status: "ROLLBACK_TRIGGERED", hint: { category, key } });
  });

  it("arguments over 1 MiB", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    const value = "x".repeat(1024 * 1024);
    expect(await tx.step("put", { key: "a", value })).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
      hint: { category: "payload_too_large" },
    });
  });

  it("an unknown tool", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    expect(await tx.step("nope", {})).toMatchObject({ hint: { category: "unknown_tool" } });
  });

  it("a reference to nothing names the argument, and the jump finds the producer (G3)", async () => {
    const { engine } = harness([echo]);
    const tx = await engine.begin();
    await tx.step("echo", { output: { id: 1 } });
    await tx.step("echo", { output: null });
    expect(await tx.step("echo", { customer_id: ref(1, "missing") })).toMatchObject({
      hint: { category: "unresolved_reference", key: "customer_id" },
      strategy: "DEPENDENCY_JUMP",
      rollbackToStep: 1,
    });
  });

  it("a read-only call past its deadline, whose late answer is ignored", async () => {
    let signal: AbortSignal | null = null;
    const slow = defineTool({
      name: "slow",
      schema: fields({}),
      effect: "read-only",
      deadlineMs: 50,
      retry: 0,
      execute: (_args, context) => {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const { engine, clock } = harness([slow]);
    const tx = await engine.begin();
    const running = tx.step("slow", {});
    await clock.advance(60);
    expect(await running).toMatchObject({ hint: { category: "timeout", rule: "deadline" } });
    expect(signal).toMatchObject({ aborted: true });
  });

  it("what a failed step wrote is gone", async () => {
    const half = defineTool({
      name: "half",
      schema: fields({}),
      effect: "reversible",
      scope: "store",
      execute(_args, { state }) {
        state.put("k", Buffer.from("2"));
        throw new Error("half way");
      },
    });
    const { engine } = harness([half, get, put]);
    const tx = await engine.begin();
    await tx.step("put", { key: "k", value: 1 });
    await tx.step("put", { key: "other", value: 1 });
    await tx.step("half", {});
    expect(await tx.step("get", { key: "k" })).toMatchObject({ output: { value: 1 } });
  });

  it("an empty key, written or read, is the step's failure", async () => {
    const { engine } = harness([put]);
    const tx = await engine.begin();
    expect(await tx.step("put", { key: "", value: 1 })).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
    });
  });
});

describe("the tool's view of state", () => {
  it("reads its own writes and scans them merged, in order", async () => {
    const scan = defineTool({
      name: "scan",
      schema: fields({}),
      effect: "reversible",
      scope: "store",
      async execute(_args, { state }) {
        state.put("p/c", Buffer.from("3"));
        state.delete("p/a");
        const up = await state.scan({ prefix: "p/" });
        const down = await state.scan({ prefix: "p/", reverse: true, limit: 1 });
        const own = await state.get("p/c");
        return {
          up: up.map(({ key }) => Buffer.from(key).toString()),
          down: down.map(({ key }) => Buffer.from(key).toString()),
          own: Buffer.from(own ?? []).toString(),
          gone: await state.get("p/a"),
        };
      },
    });
    const { engine } = harness([put, scan]);
    const tx = await engine.begin();
    for (const key of ["p/a", "p/b", "q"]) await tx.step("put", { key, value: 1 });
    expect(await tx.step("scan", {})).toMatchObject({
      output: { up: ["p/b", "p/c"], down: ["p/c"], own: "3", gone: null },
    });
  });

  it("is refused after the step has ended (E6)", async () => {
    let kept: { put(key: string, value: Uint8Array): void } | null = null;
    const leak = defineTool({
      name: "leak",
      schema: fields({}),
      effect: "read-only",
      scope: "store",
      execute(_args, { state }) {
        kept = state;
        return null;
      },
    });
    const { engine } = harness([leak]);
    const tx = await engine.begin();
    await tx.step("leak", {});
    expect(() => kept?.put("k", Buffer.from("1"))).toThrowError(
      expect.objectContaining({ code: "STALE_ATTEMPT" }),
    );
  });
});

describe("references and secrets", () => {
  it("replaces a whole value and interpolates scalars", async () => {
    const { engine } = harness([echo, put, get]);
    const tx = await engine.begin();
    await tx.step("echo", { output: { list: [{ id: 7 }], name: "n", deep: { "a.b": true } } });
    await tx.step("put", { key: "x", value: ref(1, "list[0]") });
    expect(await tx.step("get", { key: "x" })).toMatchObject({ output: { value: { id: 7 } } });
    await tx.step("put", { key: `k-${ref(1, "name")}-${ref(1, "list[0].id")}`, value: 1 });
    expect(await tx.step("get", { key: "k-n-7" })).toMatchObject({ output: { value: 1 } });
  });

  it("never reads references out of an output", async () => {
    const trap = ["$", "{secrets.PASSWORD}"].join("");
    const bait = defineTool({
      name: "bait",
      schema: fields({}),
      effect: "read-only",
      scope: "store",
      execute: () => ({ text: trap }),
    });
    const other = harness([bait, put, get], { secrets: { get: async () => "hunter2" } });
    const second = await other.engine.begin();
    await second.step("bait", {});
    await second.step("put", { key: "x", value: ref(1, "text") });
    expect(await second.step("get", { key: "x" })).toMatchObject({ output: { value: trap } });
  });

  it("gives a secret to the tool and to no record, output or hint (C9)", async () => {
    const seen: unknown[] = [];
    const login = defineTool({
      name: "login",
      schema: fields({ password: "string", fail: "boolean?" }),
      effect: "read-only",
      scope: "store",
      execute({ password, fail }) {
        seen.push(password);
        if (fail === true) throw new Error(`wrong password ${password}`);
        return { echoed: `your password is ${password}` };
      },
    });
    const { engine, store, events } = harness([login], {
      secrets: { get: async (name) => (name === "PASSWORD" ? "hunter2" : null) },
    });
    const tx = await engine.begin();
    const secret = ["$", "{secrets.PASSWORD}"].join("") as `\${secrets.${string}}`;
    const outcomes = [
      await tx.step("login", { password: secret }, { requestId: "r1" }),
      await tx.step("login", { password: secret, fail: true }, { requestId: "r2" }),
    ];
    expect(seen).toEqual(["hunter2", "hunter2"]);
    const audit = (await store.readAudit(tx.id)).map(({ payload }) => Buffer.from(payload));
    const records = await store.scanRecords("request", { transaction: tx.id });
    const all =
      JSON.stringify([outcomes, events, await tx.history()]) +
      audit.join() +
      records.map(({ value }) => Buffer.from(value)).join();
    expect(all).not.toContain("hunter2");
  });
});

describe("what is not a failure of the agent", () => {
  it("throws the store's error, undoes the effect, and lets the step be repeated (R9)", async () => {
    const world = new World();
    const faulty = faultyStore(openMemoryStore());
    const { engine } = harness([world.book()], { store: faulty.store });
    const tx = await engine.begin();
    await tx.step("book", { item: "a" });
    // The intent is written, the receipt is not.
    faulty.hook = failNth(2, new AgentTxError("STORE_POISONED", "The disk is full."));
    await expect(tx.step("book", { item: "b" })).rejects.toMatchObject({ code: "STORE_POISONED" });
    expect(tx.nextStep).toBe(2);
    expect(await tx.step("book", { item: "c" })).toMatchObject({ status: "SUCCESS", step: 2 });
    expect(world.log).toEqual(["do a", "do b", "undo b", "do c"]);
  });

  it("stops at the caller's signal, undone, and goes on (P5)", async () => {
    const stopper = new AbortController();
    const wait = defineTool({
      name: "wait",
      schema: fields({}),
      effect: "read-only",
      execute: (_args, { signal }) =>
        new Promise<null>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    });
    const { engine } = harness([wait, put]);
    const tx = await engine.begin();
    const running = tx.step("wait", {}, { signal: stopper.signal });
    await new Promise((resolve) => setImmediate(resolve));
    stopper.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    expect(await tx.step("put", { key: "a", value: 1 })).toMatchObject({ step: 1 });
  });
});
