// Goal: what was done is undone once, newest first, durably, and nothing else is claimed (E8, E9).

import type { JsonValue, UndoResult } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "./contract.js";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, Outside, scriptedTool } from "./testing/scripted-tool.js";

/** A tool whose effect is its argument. */
function bookTool(outside: Outside, more: Parameters<typeof scriptedTool>[1] = {}): AnyTool {
  return scriptedTool("book", {
    execute: (args) => {
      outside.do(String(args));
      return { ref: args };
    },
    compensate: ({ args }, { undoKey }) => outside.undo(String(args), undoKey),
    ...more,
  });
}

async function benchWith(tools: readonly AnyTool[], args: readonly JsonValue[] = []) {
  const bench = new EffectsBench(tools);
  const driver = await bench.begin();
  const [tool] = tools;
  for (const one of args) if (tool !== undefined) await bench.finish(driver.call(tool, one));
  return { bench, driver };
}

describe("compensate", () => {
  it("undoes every effect after the target, newest first, in one instant (bugs 25, 29)", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside)], ["a", "b", "c", "d"]);
    const report = await bench.finish(driver.compensate(2));
    expect(outside.undone).toEqual(["d", "c", "b"]);
    expect(report).toEqual({ run: 3, errors: [], unresolved: [] });
    expect(await driver.states()).toEqual([
      "confirmed",
      "compensated",
      "compensated",
      "compensated",
    ]);
    expect(await bench.undoRecords()).toBe(1);
  });

  it("hands the undo what the call got and what it returned", async () => {
    const calls: unknown[] = [];
    const tool = scriptedTool("book", {
      execute: () => ({ ref: 9 }),
      compensate: (call, { idempotencyKey, undoKey }) =>
        void calls.push(call, idempotencyKey, undoKey),
    });
    const { bench, driver } = await benchWith([tool], [{ order: 7 }]);
    await bench.finish(driver.compensate());
    expect(calls).toEqual([{ args: { order: 7 }, output: { ref: 9 } }, "t1/key/1", "t1/1/undo/1"]);
  });

  it("does nothing the second time, and joins a second call that comes meanwhile (bug 27)", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside)], ["a", "b"]);
    const reports = await bench.finish(Promise.all([driver.compensate(), driver.compensate()]));
    expect(reports.map(({ run }) => run)).toEqual([2, 0]);
    await bench.finish(driver.compensate());
    expect(outside.calls.filter((call) => call.startsWith("undo"))).toEqual(["undo b", "undo a"]);
  });

  it("tries three times, then leaves it open and goes on with the others (E1c, E8)", async () => {
    const outside = new Outside();
    let tries = 0;
    const tool = bookTool(outside, {
      compensate: ({ args }, { undoKey }) => {
        if (args === "b") {
          tries += 1;
          throw new Error("carrier is closed");
        }
        outside.undo(String(args), undoKey);
      },
    });
    const { bench, driver } = await benchWith([tool], ["a", "b", "c"]);
    const report = await bench.finish(driver.compensate());
    expect(tries).toBe(3);
    expect(outside.undone).toEqual(["c", "a"]);
    expect(report.unresolved).toEqual(["t1/2"]);
    expect(report.errors).toMatchObject([
      { effectId: "t1/2", step: 2, tool: "book", message: "carrier is closed" },
    ]);
    expect((await driver.list())[1]).toMatchObject({
      state: "unresolved",
      waitsFor: "retry",
      undoAttempts: 3,
      problem: "carrier is closed",
    });
  });

  it("stops inline tries after thirty seconds", async () => {
    let tries = 0;
    const tool = scriptedTool("book", {
      deadlineMs: 31_000,
      compensate: () => {
        tries += 1;
        return noAnswer<void>();
      },
    });
    const { bench, driver } = await benchWith([tool], ["a"]);
    const report = await bench.finish(driver.compensate());
    expect(tries).toBe(1);
    expect(report.errors[0]?.message).toBe("no answer within 31000 ms");
  });

  it("blocks only what an open effect explicitly used (E8)", async () => {
    const outside = new Outside();
    const tool = bookTool(outside, {
      compensate: ({ args }, { undoKey }) => {
        if (args === "c") throw new Error("no");
        outside.undo(String(args), undoKey);
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, "a"));
    await bench.finish(driver.call(tool, "b"));
    await bench.finish(driver.call(tool, "c", { dependsOn: ["t1/1"] }));
    const report = await bench.finish(driver.compensate());
    expect(outside.undone).toEqual(["b"]);
    expect(report.unresolved).toEqual(["t1/3", "t1/1"]);
    expect(report.errors.find(({ effectId }) => effectId === "t1/1")?.message).toContain("t1/3");
  });

  it("never overwrites what someone else changed, and shows both versions (E9)", async () => {
    let calls = 0;
    const dirty: UndoResult = { status: "dirty", expected: "etag 3", found: "etag 5" };
    const tool = scriptedTool("write", {
      compensate: () => {
        calls += 1;
        return dirty;
      },
    });
    const { bench, driver } = await benchWith([tool], ["a"]);
    await bench.finish(driver.compensate());
    await bench.finish(driver.compensate());
    expect(calls).toBe(1);
    const [effect] = await driver.list();
    expect(effect).toMatchObject({ state: "unresolved", waitsFor: "person" });
    expect(effect?.problem).toMatch(/etag 3.*etag 5/);
  });

  it("takes 'already undone' for undone", async () => {
    const tool = scriptedTool("write", { compensate: () => ({ status: "already-undone" }) });
    const { bench, driver } = await benchWith([tool], ["a"]);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 1, unresolved: [] });
  });

  it("does not take an answer that is no answer for undone", async () => {
    const odd = { status: "maybe" } as unknown as UndoResult;
    const tool = scriptedTool("write", { compensate: () => odd });
    const { bench, driver } = await benchWith([tool], ["a"]);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 0, unresolved: ["t1/1"] });
  });

  it("verifies, and undoes again what the verification still finds", async () => {
    const log: string[] = [];
    const tool = scriptedTool("book", {
      compensate: () => void log.push("undo"),
      verify: () => {
        log.push("verify");
        return log.length >= 4;
      },
    });
    const { bench, driver } = await benchWith([tool], ["a"]);
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 1, unresolved: [] });
    expect(log).toEqual(["undo", "verify", "undo", "verify"]);
  });

  it("keeps an effect open that the verification keeps finding", async () => {
    const tool = scriptedTool("book", { compensate: () => undefined, verify: () => false });
    const { bench, driver } = await benchWith([tool], ["a"]);
    const report = await bench.finish(driver.compensate());
    expect(report).toMatchObject({ run: 0, unresolved: ["t1/1"] });
    expect(report.errors[0]?.message).toContain("verification");
  });

  it("does not undo again when only the verification failed", async () => {
    const log: string[] = [];
    const tool = scriptedTool("book", {
      compensate: () => void log.push("undo"),
      verify: () => {
        log.push("verify");
        if (log.length < 3) throw new Error("503");
        return true;
      },
    });
    const { bench, driver } = await benchWith([tool], ["a"]);
    await bench.finish(driver.compensate());
    expect(log).toEqual(["undo", "verify", "verify"]);
  });

  it("does not run again what was confirmed before a crash between two undo actions", async () => {
    const log: JsonValue[] = [];
    const execute: Parameters<typeof scriptedTool>[1] = {
      execute: async (_args, { registerUndo }) => {
        for (const part of [1, 2, 3]) await registerUndo("refund", part);
        return null;
      },
    };
    const tool = scriptedTool("collect", {
      ...execute,
      undo: {
        refund: (part) => {
          log.push(part);
          return part === 2 ? noAnswer<void>() : undefined;
        },
      },
    });
    const { bench, driver } = await benchWith([tool], ["a"]);
    void driver.compensate();
    await bench.clock.advance(1);
    expect(log).toEqual([3, 2]);
    await bench.crash([
      scriptedTool("collect", { ...execute, undo: { refund: (part) => void log.push(part) } }),
    ]);
    const again = await bench.attach();
    expect(await bench.finish(again.compensate())).toMatchObject({ run: 2, unresolved: [] });
    expect(log).toEqual([3, 2, 2, 1]);
  });

  it("asks a person where that was agreed, and undoes nothing by itself", async () => {
    const outside = new Outside();
    const tool = bookTool(outside, { compensation: "ask", owner: "logistics" });
    const { bench, driver } = await benchWith([tool], ["a"]);
    const report = await bench.finish(driver.compensate());
    expect(outside.undone).toEqual([]);
    expect(report.errors[0]?.message).toContain("logistics");
    expect((await driver.list())[0]).toMatchObject({ state: "unresolved", waitsFor: "person" });
  });

  it("undoes nothing after the time in which it can be undone", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside, { undoWithinMs: 60_000 })], ["a"]);
    await bench.clock.advance(60_001);
    expect(await bench.finish(driver.compensate())).toMatchObject({ unresolved: ["t1/1"] });
    expect(outside.stands("a")).toBe(true);
  });

  it("never calls a pivot undone, and names its forward recovery (E7)", async () => {
    const tool = scriptedTool("pay", {
      effect: "irreversible",
      irreversible: { pivot: true, forwardRecovery: "Refund by the desk" },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}, { effectClass: "irreversible" }));
    const report = await bench.finish(driver.compensate());
    expect(report).toMatchObject({ run: 0, unresolved: ["t1/1"] });
    expect(report.errors[0]?.message).toContain("Refund by the desk");
  });

  it("parks effects of a tool that a deploy removed, and goes on when it is back (C8)", async () => {
    const outside = new Outside();
    const tool = bookTool(outside);
    const { bench } = await benchWith([tool], ["a"]);
    await bench.crash([]);
    const without = await bench.attach();
    const report = await bench.finish(without.compensate());
    expect(report.errors[0]?.message).toContain('"book" (version 1) is not registered');
    expect((await without.list())[0]).toMatchObject({ state: "unresolved", waitsFor: "tool" });
    await bench.crash([tool]);
    const back = await bench.attach();
    expect(await bench.finish(back.compensate())).toMatchObject({ run: 1, unresolved: [] });
    expect(outside.stands("a")).toBe(false);
  });

  it("looks up what a crash left without a receipt before it decides (E5)", async () => {
    const outside = new Outside();
    const answers = {
      a: { status: "landed", output: 1 },
      b: { status: "absent", final: true },
    } as const;
    const tool = (): AnyTool =>
      bookTool(outside, {
        execute: (args) => {
          if (args === "a") outside.do("a");
          return noAnswer<JsonValue>();
        },
        lookup: ({ args }) => answers[args as "a" | "b"],
      });
    const { bench, driver } = await benchWith([tool()]);
    void driver.call(tool(), "a");
    await bench.clock.advance(1);
    await bench.crash();
    const again = await bench.attach();
    expect(await again.states()).toEqual(["requested"]);
    void again.call(tool(), "b");
    await bench.clock.advance(1);
    await bench.crash();
    const last = await bench.attach();
    expect(await bench.finish(last.compensate())).toMatchObject({ run: 1, unresolved: [] });
    expect(await last.states()).toEqual(["compensated", "absent"]);
    expect(outside.undone).toEqual(["a"]);
  });

  it("marks calls without a receipt as indeterminate, and nothing else", async () => {
    const tool = scriptedTool("book", {
      execute: (args) => (args === "hangs" ? noAnswer<JsonValue>() : args),
    });
    const { bench, driver } = await benchWith([tool], ["fine"]);
    void driver.call(tool, "hangs");
    await bench.clock.advance(1);
    await bench.effects.markIndeterminate("t1", "");
    expect(await driver.states()).toEqual(["confirmed", "indeterminate"]);
  });

  it("works on a transaction that has ended (bug 21)", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside)], ["a", "b"]);
    await driver.tx.discard();
    const target = { tx: null, transaction: "t1", namespace: "", fromStep: 0 };
    expect(await bench.finish(bench.effects.compensate(target))).toMatchObject({ run: 2 });
    expect(outside.undone).toEqual(["b", "a"]);
    expect(await bench.undoRecords()).toBe(0);
  });

  it("goes on when the transaction ends in the middle of it", async () => {
    const outside = new Outside();
    const tool = bookTool(outside, {
      compensate: async ({ args }, { undoKey }) => {
        if (args === "b") await driver.tx.discard();
        outside.undo(String(args), undoKey);
      },
    });
    const { bench, driver } = await benchWith([tool], ["a", "b"]);
    const target = { tx: null, transaction: "t1", namespace: "", fromStep: 0 };
    expect(await bench.finish(bench.effects.compensate(target))).toMatchObject({ run: 2 });
    expect(outside.undone).toEqual(["b", "a"]);
  });

  it("drops staged effects without calling anything (E7)", async () => {
    let calls = 0;
    const tool = scriptedTool("mail", {
      execute: () => {
        calls += 1;
        return null;
      },
    });
    const { bench, driver } = await benchWith([tool]);
    await driver.stage(tool, "x");
    expect(await bench.finish(driver.compensate())).toEqual({ run: 0, errors: [], unresolved: [] });
    expect(await driver.states()).toEqual(["dropped"]);
    expect(calls).toBe(0);
  });

  it("reads records to the end: 99, 100, 101, 1001 and 2001 undos", async () => {
    for (const count of [99, 100, 101, 1_001, 2_001]) {
      const outside = new Outside();
      const tool = scriptedTool("collect", {
        execute: async (_args, { registerUndo }) => {
          for (let part = 1; part <= count; part += 1) {
            outside.do(`${part}`);
            await registerUndo("refund", `${part}`);
          }
          return null;
        },
        undo: { refund: (part, { undoKey }) => outside.undo(String(part), undoKey) },
      });
      const { bench, driver } = await benchWith([tool], ["x"]);
      expect(await bench.finish(driver.compensate())).toMatchObject({ run: count, unresolved: [] });
      expect(outside.undone).toEqual(Array.from({ length: count }, (_, at) => `${count - at}`));
    }
  });

  it("leaves a damaged record to a person and settles the others (bug 24 of the list)", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside)], ["a", "b", "c"]);
    await driver.tx.apply({
      records: [
        { space: "effect", seq: 2, value: Buffer.from("{not json") },
        { space: "saga", step: 3, seq: 3, value: Buffer.from("{not json") },
      ],
    });
    const report = await bench.finish(driver.compensate());
    expect(outside.undone).toEqual(["a"]);
    expect([...report.unresolved].sort()).toEqual(["t1/2", "t1/3"]);
    expect(report.errors).toHaveLength(2);
    await expect(driver.list()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("keeps transactions, namespaces and look-alike ids apart", async () => {
    const outside = new Outside();
    const bench = new EffectsBench([bookTool(outside)]);
    const tool = bookTool(outside);
    const names = ["t", "t1", "t/1", "t|1"];
    for (const id of names) {
      for (const namespace of ["", "acme"]) {
        const driver = await bench.begin(id, namespace);
        await bench.finish(driver.call(tool, `${namespace}:${id}`));
      }
    }
    const one = await bench.attach("t", "acme");
    await bench.finish(one.compensate());
    expect(outside.undone).toEqual(["acme:t"]);
    expect(outside.standing).toHaveLength(7);
  });

  it("writes every change into the transaction's audit chain, in order (C9)", async () => {
    const outside = new Outside();
    const { bench, driver } = await benchWith([bookTool(outside)], ["a"]);
    await bench.finish(driver.compensate());
    const audit = await bench.store.readAudit("t1");
    const told = audit.map(({ payload }) => JSON.parse(Buffer.from(payload).toString()));
    expect(told.map(({ ev, state }) => [ev, state])).toEqual([
      ["request", "requested"],
      ["compensate", "compensating"],
      ["finish", "compensated"],
    ]);
  });

  it("tells observers, and does not stumble over one that throws", async () => {
    const outside = new Outside();
    const tool = bookTool(outside);
    const seen: string[] = [];
    const observer = {
      onEvent: ({ kind }: { readonly kind: string }): void => {
        seen.push(kind);
        throw new Error("observer");
      },
    };
    const bench = new EffectsBench([tool], { observer });
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, "a"));
    expect(await bench.finish(driver.compensate())).toMatchObject({ run: 1 });
    expect(seen).toEqual(["compensation-started", "compensation-finished"]);
  });
});
