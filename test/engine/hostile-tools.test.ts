// Goal: whatever a tool, its schema or a secret source throws, returns or goes on doing, the step
// ends, the transaction stays usable, and the process lives.
import { createEngine, defineTool, type EngineOptions, type ToolShape } from "@agenttx/engine";
import type { ArgumentSchema } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/testkit";
import { kvTools } from "@agenttx/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

type Args = Record<string, unknown>;

/** Hands on the very object that it was given, as schemas for "anything" do. */
const anything: ArgumentSchema<Args> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Args }) },
};

const QUICK = { settlingMs: 1, backoffBaseMs: 1, backoffCapMs: 2 };

function engineWith<const Tools extends readonly ToolShape[]>(
  tools: Tools,
  options: Partial<EngineOptions> = {},
) {
  const store = openMemoryStore();
  // Tools of any names: these tests look at outcomes, not at types.
  const all: readonly ToolShape[] = [...kvTools({ prefix: "" }), ...tools];
  return createEngine({ store, effects: QUICK, ...options, tools: all });
}

function both(execute: () => unknown): readonly ToolShape[] {
  // What these tools return is no JSON on purpose.
  const run = execute as () => null;
  return [
    defineTool({ name: "local", schema: anything, effect: "read-only", execute: run }),
    defineTool({
      name: "outside",
      schema: anything,
      effect: "reversible",
      execute: run,
      compensate: () => undefined,
    }),
  ];
}

let unhandled: unknown[] = [];
const note = (error: unknown): void => {
  unhandled.push(error);
};
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const trap = (): never => {
  throw new Error("it bites");
};
const THROWN: readonly [string, () => unknown][] = [
  ["null", () => null],
  ["a symbol", () => Symbol("no error")],
  [
    "an error whose message cannot be read",
    () => Object.defineProperty(new Error("x"), "message", { get: trap }),
  ],
  [
    "an object whose fields cannot be read",
    () => Object.defineProperty({}, "definite", { get: trap }),
  ],
  [
    "a proxy that bites",
    () => new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap }),
  ],
  ["50 MB of text", () => "x".repeat(50_000_000)],
];

describe.each(THROWN)("a tool that throws %s", (_name, thrown) => {
  it.each(["local", "outside"])("fails its step, %s, and is undone", async (name) => {
    const engine = engineWith(
      both(() => {
        throw thrown();
      }),
    );
    const tx = await engine.begin();
    expect(await tx.step(name, {})).toMatchObject({ status: "ROLLBACK_TRIGGERED" });
    expect(await tx.step("kv.put", { key: "k", value: 1 })).toMatchObject({ status: "SUCCESS" });
    const effects = await engine.effects(tx.id);
    expect(effects.map(({ state }) => state)).toEqual(name === "local" ? [] : ["compensated"]);
    await tx.commit();
  });
});

function unfolding(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = [value, value];
  return value;
}
const RETURNED: readonly [string, () => unknown][] = [
  ["a value that unfolds to 2^60 parts", () => unfolding(60)],
  ["an array of 4 billion holes", () => new Array(4_294_967_295)],
  [
    "a value that holds itself",
    () => {
      const value: Args = {};
      value.self = value;
      value.other = value;
      return value;
    },
  ],
  [
    "a value whose toJSON gives itself",
    () => ({
      toJSON() {
        return this;
      },
    }),
  ],
  ["a getter that throws", () => Object.defineProperty({}, "a", { get: trap, enumerable: true })],
  ["a key named __proto__", () => JSON.parse('{"__proto__":{"admin":true}}')],
  ["a bigint", () => 10n],
];

describe.each(RETURNED)("a tool that returns %s", (_name, returned) => {
  it.each(["local", "outside"])("fails its step, %s, in bounded time", async (name) => {
    const engine = engineWith(both(returned));
    const tx = await engine.begin();
    expect(await tx.step(name, {})).toMatchObject({ status: "ROLLBACK_TRIGGERED" });
    expect(await tx.step("kv.put", { key: "k", value: 1 })).toMatchObject({ status: "SUCCESS" });
    await tx.commit();
  });
});

it("accepts an output of exactly the largest size, counted as it is stored", async () => {
  const text = "x".repeat(4 * 1024 * 1024 - '{"a":[""],"b":{}}'.length);
  const [fits] = both(() => ({ a: [text], b: {} }));
  const [over] = both(() => ({ a: [`${text}x`], b: {} }));
  const run = async (tool: ToolShape | undefined) =>
    (await (await engineWith(tool === undefined ? [] : [tool]).begin()).step("local", {})).status;
  expect(await run(fits)).toBe("SUCCESS");
  expect(await run(over)).toBe("ROLLBACK_TRIGGERED");
});

it("decides by what was asked, not by what the tool made of its arguments", async () => {
  const engine = engineWith([
    defineTool({
      name: "find",
      schema: anything,
      effect: "read-only",
      execute: () => ({ customer_id: "c77" }),
    }),
    defineTool({
      name: "order",
      schema: anything,
      effect: "read-only",
      execute(args) {
        args.customer_id = "somebody else";
        throw new Error('null value in column "customer_id" violates not-null constraint');
      },
    }),
  ]);
  const tx = await engine.begin();
  await tx.step("find", {});
  const outcome = await tx.step("order", { customer_id: "c77" });
  expect(outcome).toMatchObject({ strategy: "DEPENDENCY_JUMP", rollbackToStep: 1 });
});

describe("references to one output, again and again", () => {
  const makes = (output: string) =>
    defineTool({
      name: "make",
      schema: anything,
      effect: "read-only",
      execute: () => ({ output }),
    });
  const many = (reference: string, count: number) => Array.from({ length: count }, () => reference);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's reference syntax
  const REFERENCE = "${steps.1.output}";

  it.each([
    ["as values", { value: many(REFERENCE, 20_000) }],
    ["inside one text", { value: many(REFERENCE, 20_000).join("-") }],
    ["inside many texts", { value: many(`-${REFERENCE}`, 20_000) }],
  ])("fail the step before they fill the memory: %s", async (_name, args) => {
    const [echo] = both(() => null);
    const engine = engineWith([
      makes("x".repeat(1_000_000)),
      ...(echo === undefined ? [] : [echo]),
    ]);
    const tx = await engine.begin();
    await tx.step("make", {});
    expect(await tx.step("local", args)).toMatchObject({
      status: "ROLLBACK_TRIGGERED",
      hint: { category: "payload_too_large" },
    });
  });

  it("are filled in as long as they fit", async () => {
    const [echo] = both(() => null);
    const engine = engineWith([makes("x".repeat(100)), ...(echo === undefined ? [] : [echo])]);
    const tx = await engine.begin();
    await tx.step("make", {});
    const args = { values: many(REFERENCE, 20_000), text: many(REFERENCE, 20_000).join("-") };
    expect(await tx.step("local", args)).toMatchObject({ status: "SUCCESS" });
  });
});

describe("what never answers", () => {
  const never = () => new Promise<never>(() => undefined);
  const slow: ArgumentSchema<Args> = {
    "~standard": { version: 1, vendor: "test", validate: never },
  };
  const tool = (schema: ArgumentSchema<Args>, deadlineMs: number) =>
    defineTool({ name: "t", schema, effect: "read-only", deadlineMs, execute: () => null });

  it.each([
    ["a schema", tool(slow, 20), {}],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's reference syntax
    ["a secret source", tool(anything, 20), { a: "${secrets.KEY}" }],
  ] as const)("fails the step at its deadline: %s", async (_name, one, args) => {
    const engine = engineWith([one], { secrets: { get: never } });
    const tx = await engine.begin();
    const outcome = await tx.step("t", args);
    expect(outcome).toMatchObject({ status: "ROLLBACK_TRIGGERED", hint: { category: "timeout" } });
    await tx.commit();
  });

  it("is stopped by an abort", async () => {
    const tx = await engineWith([tool(slow, 60_000)]).begin();
    const step = tx.step("t", {});
    const stopped = expect(step).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    expect(await tx.abort()).toMatchObject({ status: "ROLLED_BACK" });
    await stopped;
  });

  it("waits for a schema whose promise is no Promise", async () => {
    const thenable: ArgumentSchema<Args> = {
      "~standard": {
        version: 1,
        vendor: "test",
        // biome-ignore lint/suspicious/noThenProperty: what this test is about
        validate: (value) => ({ then: (done: (r: unknown) => void) => done({ value }) }) as never,
      },
    };
    const echo = defineTool({
      name: "t",
      schema: thenable,
      effect: "read-only",
      execute: (args) => ({ got: args.a as string }),
    });
    const tx = await engineWith([echo]).begin();
    expect(await tx.step("t", { a: "x" })).toMatchObject({ output: { got: "x" } });
  });
});

describe("calls that a tool does not wait for", () => {
  it("fails the step whose undo cannot be registered", async () => {
    const local = defineTool({
      name: "t",
      schema: anything,
      effect: "read-only",
      execute(_args, { registerUndo }) {
        void registerUndo("anything", {});
        return null;
      },
    });
    const tx = await engineWith([local]).begin();
    expect(await tx.step("t", {})).toMatchObject({ status: "ROLLBACK_TRIGGERED" });
  });

  it("does not end the process when they come after the step", async () => {
    let late = (): void => undefined;
    const tool = defineTool({
      name: "t",
      schema: anything,
      effect: "read-only",
      execute(_args, context) {
        late = () => {
          void context.state.get("k");
          void context.state.scan({ prefix: "k" });
          void context.registerUndo("anything", {});
        };
        return null;
      },
    });
    const tx = await engineWith([tool]).begin();
    await tx.step("t", {});
    expect(late).not.toThrow();
  });
});

describe("calls of the same transaction from inside its tool", () => {
  it.each([
    ["step", "STEP_IN_PROGRESS"],
    ["commit", "STEP_IN_PROGRESS"],
    ["rollback", "STEP_IN_PROGRESS"],
  ] as const)("refuses %s", async (call, code) => {
    let inside: unknown = null;
    const [local] = both(async () => {
      const again = {
        step: () => tx.step("kv.put", { key: "k", value: 1 }),
        commit: () => tx.commit(),
        rollback: () => tx.rollback(1),
      }[call];
      inside = await again().catch((error: { code: string }) => error.code);
      return null;
    });
    const tx = await engineWith(local === undefined ? [] : [local]).begin();
    expect(await tx.step("local", {})).toMatchObject({ status: "SUCCESS" });
    expect(inside).toBe(code);
  });

  it("lets it abort: the step is stopped and everything undone", async () => {
    const [local] = both(async () => (await tx.abort()).status);
    const tx = await engineWith(local === undefined ? [] : [local]).begin();
    await expect(tx.step("local", {})).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    await tx.abort();
    expect(tx.status).toBe("ROLLED_BACK");
  });
});

describe("misuse", () => {
  const calls: readonly [string, (tx: Awaited<ReturnType<typeof begin>>) => unknown][] = [
    ["an empty tool name", (tx) => tx.step("", {})],
    ["options that are null", (tx) => tx.step("kv.get", { key: "k" }, null as never)],
    ["a request id that is a number", (tx) => tx.step("kv.get", {}, { requestId: 5 as never })],
    ["a signal that is none", (tx) => tx.step("kv.get", {}, { signal: {} as never })],
    ["JSON that is no text", (tx) => tx.step("kv.get", {}, { argumentsJson: 5 as never })],
    ["a context that is no text", (tx) => tx.step("kv.get", {}, { rawContext: 5 as never })],
    ["a report that is null", (tx) => tx.reportFailure(1, null as never)],
    ["a report without text", (tx) => tx.reportFailure(1, {} as never)],
  ];
  const begin = () => engineWith([]).begin();

  it.each(calls)("is rejected, never thrown in the caller's face: %s", async (_name, call) => {
    const tx = await begin();
    const answer = call(tx);
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(tx.nextStep).toBe(1);
  });

  it.each([
    ["options", null],
    ["metadata", { metadata: null }],
    ["metadata", { metadata: ["a"] }],
    ["metadata", { metadata: { a: "x".repeat(70_000) } }],
    ["agentId", { agentId: 5 }],
  ])("of begin is told by its field: %s", async (field, options) => {
    const engine = engineWith([]);
    await expect(engine.begin(options as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { field },
    });
    expect(await engine.list()).toEqual([]);
  });

  it.each([null, {}, { kind: "nonsense", actor: "a", note: "n" }, { kind: "happened", actor: 5 }])(
    "of a resolution changes nothing: %j",
    async (resolution) => {
      const lost = defineTool({
        name: "lost",
        schema: anything,
        effect: "reversible",
        deadlineMs: 5,
        execute: () => new Promise<never>(() => undefined),
        compensate: () => undefined,
      });
      const engine = engineWith([lost]);
      const tx = await engine.begin();
      const { unresolvedEffects = [] } = (await tx.step("lost", {})) as {
        unresolvedEffects?: readonly string[];
      };
      const [effect = ""] = unresolvedEffects;
      await expect(engine.resolveEffect(effect, resolution as never)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
      expect(await engine.unresolved()).toHaveLength(1);
      expect(await engine.effects(tx.id)).toMatchObject([{ state: "unresolved" }]);
    },
  );

  it("is rejected after close as well", async () => {
    const engine = engineWith([]);
    await engine.close();
    await expect(engine.recover()).rejects.toMatchObject({ code: "CLOSED" });
    await expect(engine.removeExpired()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
