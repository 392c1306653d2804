// Goal: one external call keeps the write-order law and tells the truth about its outcome (E2-E6).

import { DefiniteFailure, type JsonValue, type LookupResult } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, scriptedTool } from "./testing/scripted-tool.js";

describe("the intent", () => {
  it("is durable, with the undo, before the tool runs (E4)", async () => {
    const seen: unknown[] = [];
    const tool = scriptedTool("book", {
      compensate: () => undefined,
      execute: async (args) => {
        seen.push((await driver.list())[0]?.state, await bench.undoRecords());
        return args;
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const run = await bench.finish(driver.call(tool, { order: 7 }));
    expect(seen).toEqual(["requested", 1]);
    expect(run).toMatchObject({ kind: "succeeded", output: { order: 7 } });
    expect(await driver.list()).toMatchObject([
      { effectId: "t1/1", state: "confirmed", receipt: { order: 7 }, request: { order: 7 } },
    ]);
  });

  it("is refused for a stale attempt, and the tool does not run (E6)", async () => {
    let calls = 0;
    const tool = scriptedTool("book", {
      execute: () => {
        calls += 1;
        return null;
      },
    });
    const bench = new EffectsBench([tool]);
    const old = await bench.begin();
    const call = old.call(tool, {});
    old.tx.beginAttempt();
    await expect(bench.finish(call)).rejects.toMatchObject({ code: "STALE_ATTEMPT" });
    expect(calls).toBe(0);
  });

  it("is not written when the caller has given up already", async () => {
    const tool = scriptedTool("book");
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const signal = AbortSignal.abort();
    await expect(driver.call(tool, {}, { signal })).rejects.toMatchObject({
      code: "ABORTED_BY_SIGNAL",
    });
    expect(await driver.list()).toEqual([]);
  });
});

describe("registerUndo", () => {
  it("is durable before it resolves, and parts of a call that fails are undone (bug 23)", async () => {
    const undone: JsonValue[] = [];
    const tool = scriptedTool("collect", {
      undo: { refund: (args) => void undone.push(args) },
      execute: async (_args, { registerUndo }) => {
        await registerUndo("refund", 1);
        expect(await bench.undoRecords()).toBe(1);
        await registerUndo("refund", 2);
        throw new Error("cancelled before the third");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const run = await bench.finish(driver.call(tool, {}));
    expect(run.kind).toBe("failed");
    const report = await bench.finish(driver.compensate());
    expect(undone).toEqual([2, 1]);
    expect(report).toEqual({ run: 2, errors: [], unresolved: [] });
    expect(await bench.undoRecords()).toBe(0);
  });

  it("keeps the order of calls that the tool did not wait for", async () => {
    const tool = scriptedTool("collect", {
      undo: { refund: () => undefined },
      execute: (_args, { registerUndo }) => {
        for (const part of [1, 2, 3]) void registerUndo("refund", part);
        return null;
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const run = await bench.finish(driver.call(tool, {}));
    expect(run.counters.undoSeq).toBe(4);
    const actions = await bench.effects.undoActions("t1", "");
    expect(actions.map(({ seq, args }) => [seq, args])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it("of an action that is not declared fails the call, also when the tool goes on", async () => {
    const tool = scriptedTool("collect", {
      undo: { refund: () => undefined },
      execute: async (_args, { registerUndo }) => {
        await registerUndo("no-such-undo", 1).catch(() => undefined);
        return "fine";
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const run = await bench.finish(driver.call(tool, {}));
    expect(run).toMatchObject({ kind: "failed", error: { code: "TOOL_INVALID" } });
  });

  it("is refused once the call is over, and kept as late evidence (E6)", async () => {
    let register: ((action: string, args: JsonValue) => Promise<void>) | null = null;
    const tool = scriptedTool("collect", {
      undo: { refund: () => undefined },
      deadlineMs: 10,
      lookup: () => ({ status: "absent", final: true }),
      execute: (_args, context) => {
        register = context.registerUndo;
        return noAnswer<JsonValue>();
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    const late = register as unknown as (action: string, args: JsonValue) => Promise<void>;
    await expect(late("refund", 1)).rejects.toMatchObject({ code: "STALE_ATTEMPT" });
    expect(await bench.undoRecords()).toBe(0);
    expect(await bench.late()).toMatchObject([{ kind: "late-undo", action: "refund" }]);
  });
});

describe("a throw", () => {
  it("that is definite leaves nothing to undo (E2)", async () => {
    const tool = scriptedTool("book", {
      compensate: () => undefined,
      execute: () => {
        throw new DefiniteFailure("no such customer");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const run = await bench.finish(driver.call(tool, {}));
    expect(run).toMatchObject({ kind: "failed", effect: { state: "failed" } });
    expect(await bench.undoRecords()).toBe(0);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 0, unresolved: [] });
  });

  it("that is definite does not take back what was registered before", async () => {
    const tool = scriptedTool("collect", {
      undo: { refund: () => undefined },
      execute: async (_args, { registerUndo }) => {
        await registerUndo("refund", 1);
        throw new DefiniteFailure("the second was refused");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    expect(await driver.states()).toEqual(["confirmed"]);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 1 });
  });

  it("that is plain may have had a part of its effect and is compensated (E2, bug 25)", async () => {
    const undone: unknown[] = [];
    const tool = scriptedTool("book", {
      compensate: (call) => void undone.push(call),
      execute: () => {
        throw new Error("connection reset");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, { order: 7 }));
    await bench.finish(driver.compensate());
    expect(undone).toEqual([{ args: { order: 7 }, output: null }]);
    expect(await driver.states()).toEqual(["compensated"]);
  });

  it("of a pivot is looked up: it cannot be compensated", async () => {
    const found: LookupResult[] = [
      { status: "landed", output: "sent" },
      { status: "absent", final: true },
      { status: "unknown" },
    ];
    const tool = scriptedTool("pay", {
      effect: "irreversible",
      irreversible: { pivot: true, forwardRecovery: "Refund desk" },
      lookup: () => found.shift() ?? { status: "unknown" },
      execute: () => {
        throw new Error("socket hang up");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const kinds = [];
    for (let index = 0; index < 3; index += 1) {
      const call = driver.call(tool, {}, { effectClass: "irreversible" });
      kinds.push((await bench.finish(call)).kind);
    }
    expect(kinds).toEqual(["succeeded", "failed", "unresolved"]);
    expect(await driver.states()).toEqual(["confirmed", "absent", "unresolved"]);
  });

  it("is tried again in place only as the caller says, with the same key (E1c)", async () => {
    const keys: string[] = [];
    const tool = scriptedTool("book", {
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length < 3) throw new Error("503");
        return "booked";
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    const waits: number[] = [];
    const retry = (_error: unknown, failed: number): number | null => {
      waits.push(failed);
      return failed < 3 ? 50 : null;
    };
    const run = await bench.finish(driver.call(tool, {}, { retry }));
    expect(run).toMatchObject({ kind: "succeeded", output: "booked" });
    expect(new Set(keys).size).toBe(1);
    expect(waits).toEqual([1, 2]);
    expect(await driver.states()).toEqual(["confirmed"]);
  });

  it("of storage during the call is no outcome of the call", async () => {
    const tool = scriptedTool("book", {
      compensate: () => undefined,
      execute: () => {
        driver.tx.beginAttempt();
        throw new Error("after the fence");
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await expect(bench.finish(driver.call(tool, {}))).rejects.toMatchObject({
      code: "STALE_ATTEMPT",
    });
    expect(await driver.states()).toEqual(["requested"]);
    expect(await bench.late()).toMatchObject([{ ev: "refused-write", e: "t1/1" }]);
  });
});

describe("an output that is no JSON", () => {
  it("fails the call and compensates what it did", async () => {
    const undone: string[] = [];
    const tool = scriptedTool("book", {
      compensate: () => void undone.push("x"),
      execute: () => 10n as unknown as JsonValue,
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    expect((await bench.finish(driver.call(tool, {}))).kind).toBe("failed");
    await bench.finish(driver.compensate());
    expect(undone).toEqual(["x"]);
  });
});

describe("no answer in time (E5)", () => {
  const cases: readonly (readonly [string, LookupResult[] | null, string, string, number])[] = [
    [
      "landed with output is a success",
      [{ status: "landed", output: 5 }],
      "succeeded",
      "confirmed",
      1,
    ],
    [
      "landed without output is a failure to undo",
      [{ status: "landed" }],
      "failed",
      "confirmed",
      1,
    ],
    [
      "absent for good is a failure with nothing to undo",
      [{ status: "absent", final: true }],
      "failed",
      "absent",
      0,
    ],
    [
      "absent twice is absent",
      [
        { status: "absent", final: false },
        { status: "absent", final: false },
      ],
      "failed",
      "absent",
      0,
    ],
    [
      "absent, then landed is landed",
      [
        { status: "absent", final: false },
        { status: "landed", output: 5 },
      ],
      "succeeded",
      "confirmed",
      1,
    ],
    [
      "absent, then unknown stays open",
      [{ status: "absent", final: false }, { status: "unknown" }],
      "unresolved",
      "unresolved",
      1,
    ],
    ["unknown stays open", [{ status: "unknown" }], "unresolved", "unresolved", 1],
    ["no lookup stays open", null, "unresolved", "unresolved", 1],
  ];
  for (const [claim, answers, kind, state, undo] of cases) {
    it(claim, async () => {
      const left = [...(answers ?? [])];
      const tool = scriptedTool("book", {
        deadlineMs: 100,
        compensate: () => undefined,
        execute: () => noAnswer<JsonValue>(),
        ...(answers === null
          ? {}
          : { lookup: (): LookupResult => left.shift() ?? { status: "unknown" } }),
      });
      const bench = new EffectsBench([tool]);
      const driver = await bench.begin();
      const run = await bench.finish(driver.call(tool, {}));
      expect(run.kind).toBe(kind);
      expect(left).toEqual([]);
      expect(await driver.states()).toEqual([state]);
      expect(await bench.undoRecords()).toBe(undo);
      const open = await bench.effects.listUnresolved();
      expect(open.map(({ effectId }) => effectId)).toEqual(state === "unresolved" ? ["t1/1"] : []);
      if (run.kind !== "succeeded") expect(run.error).toBeInstanceOf(Error);
    });
  }

  it("waits the settling time before the second lookup", async () => {
    const asked: number[] = [];
    const tool = scriptedTool("book", {
      deadlineMs: 100,
      execute: () => noAnswer<JsonValue>(),
      lookup: () => {
        asked.push(bench.clock.now());
        return { status: "absent", final: false };
      },
    });
    const bench = new EffectsBench([tool], { limits: { settlingMs: 700 } });
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBe(700);
  });

  it("asks again when the lookup itself fails, with the key of the call", async () => {
    const keys: string[] = [];
    const tool = scriptedTool("book", {
      deadlineMs: 100,
      execute: () => noAnswer<JsonValue>(),
      lookup: ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length < 3) throw new Error("503");
        return { status: "landed", output: "found" };
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    expect(await bench.finish(driver.call(tool, {}))).toMatchObject({ output: "found" });
    expect(keys).toEqual(["t1/key/1", "t1/key/1", "t1/key/1"]);
  });

  it("counts parts that were registered, whatever the lookup of the whole says", async () => {
    const tool = scriptedTool("collect", {
      deadlineMs: 100,
      undo: { refund: () => undefined },
      lookup: () => ({ status: "absent", final: true }),
      execute: async (_args, { registerUndo }) => {
        await registerUndo("refund", 1);
        return noAnswer<JsonValue>();
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    expect(await driver.states()).toEqual(["confirmed"]);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 1 });
  });

  it("aborts the tool's signal, and so does a caller that gives up", async () => {
    const reasons: unknown[] = [];
    const tool = scriptedTool("book", {
      deadlineMs: 100,
      lookup: () => ({ status: "absent", final: true }),
      execute: (_args, { signal }) => {
        signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
        return noAnswer<JsonValue>();
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    const caller = new AbortController();
    const call = driver.call(tool, {}, { signal: caller.signal });
    await bench.clock.advance(1);
    caller.abort();
    expect(await bench.finish(call)).toMatchObject({ kind: "failed", effect: { state: "absent" } });
    expect(reasons).toEqual(["TimeoutError", "AbortError"]);
  });

  it("keeps a result that comes later as evidence and applies it to nothing (E6)", async () => {
    let answer: (value: JsonValue) => void = () => undefined;
    const tool = scriptedTool("book", {
      deadlineMs: 100,
      lookup: () => ({ status: "absent", final: true }),
      execute: () =>
        new Promise<JsonValue>((resolve) => {
          answer = resolve;
        }),
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    const before = await driver.list();
    answer({ booking: 9 });
    await bench.clock.advance(1);
    expect(await driver.list()).toEqual(before);
    expect(await bench.late()).toMatchObject([
      { kind: "late-result", effectId: "t1/1", output: { booking: 9 } },
    ]);
  });

  it("keeps a result that comes after the end of the transaction in its audit chain", async () => {
    let answer: (value: JsonValue) => void = () => undefined;
    const tool = scriptedTool("book", {
      deadlineMs: 100,
      lookup: () => ({ status: "absent", final: true }),
      execute: () =>
        new Promise<JsonValue>((resolve) => {
          answer = resolve;
        }),
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}));
    await driver.tx.discard();
    answer({ booking: 9 });
    await bench.clock.advance(1);
    const audit = await bench.store.readAudit("t1");
    const last = JSON.parse(Buffer.from(audit.at(-1)?.payload ?? []).toString());
    expect(last).toMatchObject({ k: "effect", e: "t1/1", ev: "late-result" });
  });
});
