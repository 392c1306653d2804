// Goal: a tool does what its script says and keeps account. Method: called as the engine calls it.

import { DefiniteFailure, type ToolContext, type UndoContext } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { effectWorld } from "./effect-world.js";
import { scriptedTool } from "./scripted-tool.js";

function context(
  options: { key?: string; signal?: AbortSignal; undo?: string[] } = {},
): ToolContext {
  return {
    transaction: "t",
    namespace: "",
    step: 2,
    attempt: 5,
    idempotencyKey: options.key ?? "k",
    signal: options.signal ?? new AbortController().signal,
    state: {
      get: async () => null,
      put: () => undefined,
      delete: () => undefined,
      scan: async () => [],
    },
    registerUndo: async (action, args) => {
      options.undo?.push(`${action} ${JSON.stringify(args)}`);
    },
  };
}

function undoContext(key = "k", signal = new AbortController().signal): UndoContext {
  return {
    transaction: "t",
    namespace: "",
    step: 2,
    effectId: "e",
    idempotencyKey: key,
    undoKey: `undo ${key}`,
    signal,
  };
}

describe("scriptedTool", () => {
  it("takes one line for each call and records each", async () => {
    const tool = scriptedTool({
      name: "book",
      effect: "reversible",
      script: [{ answers: { id: 1 } }, { throws: "no seat" }, { refuses: "closed" }],
    });
    expect(await tool.execute({ seat: 1 }, context())).toEqual({ id: 1 });
    await expect(tool.execute({ seat: 2 }, context())).rejects.toThrow("no seat");
    await expect(tool.execute({ seat: 3 }, context())).rejects.toThrow(DefiniteFailure);
    expect(tool.calls.map(({ args }) => args)).toEqual([{ seat: 1 }, { seat: 2 }, { seat: 3 }]);
    expect(tool.calls[0]).toMatchObject({ kind: "execute", step: 2, attempt: 5, undoKey: null });
    expect(tool.linesLeft).toBe(0);
  });

  it("fails a call beyond its script and says so", async () => {
    const tool = scriptedTool({ name: "t", effect: "read-only", script: [] });
    await expect(tool.execute({}, context())).rejects.toThrow("t.execute: the script has 0 lines");
  });

  it("lands an effect before it answers, throws or hangs, and not when it only reads", async () => {
    const world = effectWorld();
    const script = [{ answers: 1 }, { throws: "x", lands: true }, { throws: "x" }] as const;
    const tool = scriptedTool({ name: "t", effect: "reversible", script, world });
    await tool.execute({ n: 1 }, context({ key: "a" }));
    await expect(tool.execute({}, context({ key: "b" }))).rejects.toThrow("x");
    await expect(tool.execute({}, context({ key: "c" }))).rejects.toThrow("x");
    expect(world.standing()).toEqual(["a", "b"]);
    expect(world.payload("a")).toEqual({ n: 1 });
    const reader = scriptedTool({
      name: "r",
      effect: "read-only",
      script: [{ answers: 1 }],
      world,
    });
    await reader.execute({}, context({ key: "d" }));
    expect(world.stands("d")).toBe(false);
  });

  it("lands and then hangs until its signal aborts", async () => {
    const world = effectWorld();
    const script = [{ hangs: true, lands: true }] as const;
    const tool = scriptedTool({ name: "t", effect: "reversible", script, world, lookup: "world" });
    const controller = new AbortController();
    const call = Promise.resolve(tool.execute({}, context({ signal: controller.signal })));
    expect(world.standing()).toEqual(["k"]);
    controller.abort(new Error("deadline"));
    await expect(call).rejects.toThrow("deadline");
    const of = { args: {}, idempotencyKey: "k" };
    expect(await tool.lookup?.(of, undoContext("k"))).toEqual({ status: "landed" });
    expect(await tool.lookup?.(of, undoContext("x"))).toEqual({ status: "absent", final: true });
  });

  it("answers late when it was deaf to its signal", async () => {
    const script = [{ deaf: true, answersLate: "late" }] as const;
    const tool = scriptedTool({ name: "t", effect: "reversible", script });
    const call = tool.execute({}, context({ signal: AbortSignal.abort() }));
    tool.release();
    expect(await call).toBe("late");
  });

  it("registers undo actions as its script says", async () => {
    const undo: string[] = [];
    const registers = [{ action: "unlink", args: { path: "a" } }];
    const tool = scriptedTool({
      name: "t",
      effect: "reversible",
      script: [{ answers: null, registers }],
      definition: { undo: { unlink: () => ({ status: "undone" }) } },
    });
    await tool.execute({}, context({ undo }));
    expect(undo).toEqual(['unlink {"path":"a"}']);
    expect(Object.keys(tool.undo ?? {})).toEqual(["unlink"]);
  });

  it("takes its effect back from the world", async () => {
    const world = effectWorld();
    const script = [{ answers: 1 }] as const;
    const tool = scriptedTool({ name: "t", effect: "reversible", script, world, verify: "world" });
    await tool.execute({}, context());
    const of = { args: {}, output: 1 };
    expect(await tool.verify?.(of, undoContext())).toBe(false);
    expect(await tool.compensate?.(of, undoContext())).toEqual({ status: "undone" });
    expect(await tool.compensate?.(of, undoContext())).toEqual({ status: "already-undone" });
    expect(await tool.verify?.(of, undoContext())).toBe(true);
    expect(tool.calls.map(({ kind }) => kind)).toEqual([
      "execute",
      "verify",
      "compensate",
      "compensate",
      "verify",
    ]);
    expect(tool.calls[1]).toMatchObject({ undoKey: "undo k", attempt: 0 });
  });

  it("follows scripts of compensation, lookup and verification", async () => {
    const world = effectWorld();
    world.do("k");
    const dirty = { status: "dirty", expected: "v1", found: "v2" } as const;
    const tool = scriptedTool({
      name: "t",
      effect: "reversible",
      script: [],
      world,
      compensate: [{ throws: "busy" }, dirty, { throws: "lost answer", lands: true }],
      lookup: [{ status: "unknown" }, { throws: "down" }],
      verify: [false, { throws: "down" }],
    });
    const of = { args: {}, output: null };
    await expect(tool.compensate?.(of, undoContext())).rejects.toThrow("busy");
    expect(await tool.compensate?.(of, undoContext())).toEqual(dirty);
    expect(world.stands("k")).toBe(true);
    await expect(tool.compensate?.(of, undoContext())).rejects.toThrow("lost answer");
    expect(world.stands("k")).toBe(false);
    const about = { args: {}, idempotencyKey: "k" };
    expect(await tool.lookup?.(about, undoContext())).toEqual({ status: "unknown" });
    await expect(tool.lookup?.(about, undoContext())).rejects.toThrow("down");
    expect(await tool.verify?.(of, undoContext())).toBe(false);
    await expect(tool.verify?.(of, undoContext())).rejects.toThrow("down");
    await expect(tool.verify?.(of, undoContext())).rejects.toThrow("t.verify: the script has 2");
  });

  it("hangs in a compensation until its signal aborts", async () => {
    const tool = scriptedTool({
      name: "t",
      effect: "reversible",
      script: [],
      compensate: [{ hangs: true }],
    });
    const signal = AbortSignal.abort(new Error("deadline"));
    const undo = tool.compensate?.({ args: {}, output: null }, undoContext("k", signal));
    await expect(undo).rejects.toThrow("deadline");
  });

  it("has no compensation when it reads, is irreversible or lives in the store", () => {
    const script = [] as const;
    const of = (effect: "read-only" | "irreversible") =>
      scriptedTool({ name: "t", effect, script });
    expect(of("read-only").compensate).toBe(undefined);
    expect(of("irreversible").compensate).toBe(undefined);
    const definition = { scope: "store" } as const;
    const kept = scriptedTool({ name: "t", effect: "reversible", script, definition });
    expect(kept.compensate).toBe(undefined);
  });

  it("takes objects as arguments and nothing else", async () => {
    const { schema } = scriptedTool({ name: "t", effect: "read-only", script: [] });
    const { validate } = schema["~standard"];
    expect(await validate({ a: 1 })).toEqual({ value: { a: 1 } });
    for (const value of [null, [], "x", 1]) expect(await validate(value)).toHaveProperty("issues");
  });
});
