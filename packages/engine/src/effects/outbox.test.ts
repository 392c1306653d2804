// Goal: staged effects leave after the commit, at least once, in order, and none is forgotten (E7).

import type { JsonValue } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "./contract.js";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, scriptedTool } from "./testing/scripted-tool.js";

interface Sink {
  readonly attempts: string[];
  readonly delivered: string[];
  readonly tool: AnyTool;
}

/** Fails the first `failures` attempts of each message, then takes it. */
function sinkOf(failures: number, more: Parameters<typeof scriptedTool>[1] = {}): Sink {
  const attempts: string[] = [];
  const delivered: string[] = [];
  const tool = scriptedTool("mail", {
    execute: (args, { idempotencyKey }) => {
      attempts.push(idempotencyKey);
      if (attempts.filter((key) => key === idempotencyKey).length <= failures) {
        throw new Error("sink is down");
      }
      delivered.push(String(args));
      return { id: args };
    },
    ...more,
  });
  return { attempts, delivered, tool };
}

async function committed(tool: AnyTool, messages: readonly JsonValue[]) {
  const bench = new EffectsBench([tool]);
  const driver = await bench.begin();
  for (const message of messages) await driver.stage(tool, message);
  await driver.commit();
  return { bench, driver };
}

async function rows(bench: EffectsBench): Promise<number> {
  return (await bench.store.scanRecords("outbox", { transaction: null })).length;
}

describe("the outbox", () => {
  it("sends nothing before the commit", async () => {
    const sink = sinkOf(0);
    const bench = new EffectsBench([sink.tool]);
    const driver = await bench.begin();
    await driver.stage(sink.tool, "a");
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(60_000);
    expect(sink.attempts).toEqual([]);
    expect(await driver.states()).toEqual(["staged"]);
    await bench.effects.close();
  });

  it("sends in order, each with its own key, and empties", async () => {
    const sink = sinkOf(0);
    const { bench, driver } = await committed(sink.tool, ["a", "b", "c"]);
    const report = await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(report).toEqual({ delivered: 3, pending: 0, errors: [] });
    expect(sink.delivered).toEqual(["a", "b", "c"]);
    expect(new Set(sink.attempts).size).toBe(3);
    expect(await driver.list()).toMatchObject([
      { state: "confirmed", receipt: { id: "a" } },
      { state: "confirmed" },
      { state: "confirmed" },
    ]);
    expect(await rows(bench)).toBe(0);
  });

  it("gives a sink that fails twice three attempts with one id, done at the end (bug 43)", async () => {
    const sink = sinkOf(2);
    const { bench } = await committed(sink.tool, ["a"]);
    const report = await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(report).toEqual({ delivered: 1, pending: 0, errors: [] });
    expect(sink.attempts).toEqual(["t1/key/1", "t1/key/1", "t1/key/1"]);
    expect(sink.delivered).toEqual(["a"]);
    expect(await rows(bench)).toBe(0);
  });

  it("does the same when the process dies after each failed attempt (bug 43)", async () => {
    const sink = sinkOf(2);
    const { bench } = await committed(sink.tool, ["a"]);
    for (let life = 0; life < 2; life += 1) {
      void bench.effects.deliver("t1", "", 5_000);
      await bench.clock.advance(0);
      await bench.crash();
      await bench.clock.advance(10_000);
    }
    expect(sink.attempts).toHaveLength(2);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(sink.attempts).toEqual(["t1/key/1", "t1/key/1", "t1/key/1"]);
    expect(sink.delivered).toEqual(["a"]);
    expect(await rows(bench)).toBe(0);
    await bench.effects.close();
  });

  it("sends what a crash between commit and delivery left", async () => {
    const sink = sinkOf(0);
    const { bench } = await committed(sink.tool, ["a", "b"]);
    await bench.crash();
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(sink.delivered).toEqual(["a", "b"]);
    await bench.effects.close();
  });

  it("sends again after a crash in the middle of an attempt, with the same key", async () => {
    const keys: string[] = [];
    const hanging = scriptedTool("mail", {
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return keys.length === 1 ? noAnswer<JsonValue>() : "sent";
      },
    });
    const { bench, driver } = await committed(hanging, ["a"]);
    void bench.effects.deliver("t1", "", 5_000);
    await bench.clock.advance(1);
    await bench.crash();
    await bench.clock.advance(1_000);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(keys).toEqual(["t1/key/1", "t1/key/1"]);
    expect(await bench.effects.listEffects(driver.tx.id, "")).toMatchObject([
      { state: "confirmed", receipt: "sent" },
    ]);
    await bench.effects.close();
  });

  it("asks the lookup before it sends again, where the tool has one", async () => {
    let sent = 0;
    const tool = scriptedTool("mail", {
      lookup: () => (sent > 0 ? { status: "landed", output: "was sent" } : { status: "unknown" }),
      execute: () => {
        sent += 1;
        return noAnswer<JsonValue>();
      },
      deadlineMs: 50,
    });
    const { bench } = await committed(tool, ["a"]);
    const report = await bench.finish(bench.effects.deliver("t1", "", 60_000));
    expect(report).toMatchObject({ delivered: 1, pending: 0 });
    expect(sent).toBe(1);
    expect(await bench.effects.listEffects("t1", "")).toMatchObject([{ receipt: "was sent" }]);
  });

  it("holds later messages back while an earlier one fails", async () => {
    const sink = sinkOf(0, {
      execute: (args) => {
        sink.attempts.push(String(args));
        if (args === "a") throw new Error("down");
        return null;
      },
    });
    const { bench } = await committed(sink.tool, ["a", "b"]);
    const report = await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(sink.attempts).toEqual(["a", "a", "a"]);
    expect(report).toEqual({ delivered: 0, pending: 2, errors: ["mail: down"] });
  });

  it("parks after the last try, shows it, and lets later ones pass that do not use it", async () => {
    const log: string[] = [];
    const tool = scriptedTool("mail", {
      execute: (args) => {
        log.push(String(args));
        if (args === "a") throw new Error("down");
        return null;
      },
    });
    const bench = new EffectsBench([tool], { limits: { deliveryTriesMax: 3 } });
    const driver = await bench.begin();
    const first = await driver.stage(tool, "a");
    await driver.stage(tool, "uses a", { dependsOn: [first] });
    await driver.stage(tool, "b");
    await driver.commit();
    const report = await bench.finish(bench.effects.deliver("t1", "", 60_000));
    expect(log).toEqual(["a", "a", "a", "b"]);
    expect(report).toMatchObject({ delivered: 1, pending: 2 });
    const open = await bench.effects.listUnresolved();
    expect(open).toMatchObject([{ effectId: "t1/1", state: "unresolved", waitsFor: "person" }]);
    expect(open[0]?.problem).toContain("Not delivered after 3 tries: down");
    expect(bench.events.map(({ kind }) => kind)).toContain("effect-parked");
  });

  it("answers within the budget of the commit and goes on behind it", async () => {
    let answer: (value: JsonValue) => void = () => undefined;
    const tool = scriptedTool("mail", {
      execute: () =>
        new Promise<JsonValue>((resolve) => {
          answer = resolve;
        }),
    });
    const { bench } = await committed(tool, ["a"]);
    const began = bench.clock.now();
    const report = await bench.finish(bench.effects.deliver("t1", "", 300));
    expect(report).toMatchObject({ delivered: 0, pending: 1 });
    expect(bench.clock.now() - began).toBe(300);
    answer("sent");
    await bench.clock.advance(1);
    expect(await rows(bench)).toBe(0);
  });

  it("is delivered by the background with a growing delay", async () => {
    const times: number[] = [];
    const tool = scriptedTool("mail", {
      execute: () => {
        times.push(bench.clock.now());
        if (times.length < 6) throw new Error("down");
        return null;
      },
    });
    const { bench } = await committed(tool, ["a"]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(60_000);
    expect(times).toHaveLength(6);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, wait] of waits.slice(1).entries()) {
      expect(wait).toBeGreaterThan(waits[index] ?? 0);
    }
    expect(await rows(bench)).toBe(0);
    await bench.effects.close();
  });

  it("works on a bounded number of transactions at once", async () => {
    let running = 0;
    let most = 0;
    const tool = scriptedTool("mail", {
      execute: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return null;
      },
    });
    const bench = new EffectsBench([tool], { limits: { concurrency: 3 } });
    for (let index = 0; index < 20; index += 1) {
      const driver = await bench.begin(`t${index}`);
      await driver.stage(tool, index);
      await driver.commit();
    }
    await bench.effects.start(async () => undefined);
    for (let round = 0; round < 40; round += 1) await bench.clock.advance(1);
    expect(most).toBe(3);
    expect(await rows(bench)).toBe(0);
    await bench.effects.close();
  });

  it("waits for a tool that a deploy removed and sends when it is back (C8)", async () => {
    const sink = sinkOf(0);
    const { bench } = await committed(sink.tool, ["a"]);
    await bench.crash([]);
    const report = await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(report.errors[0]).toContain("not registered in this deployment");
    expect(await bench.effects.listUnresolved()).toMatchObject([{ waitsFor: "tool" }]);
    await bench.crash([sink.tool]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(sink.delivered).toEqual(["a"]);
    expect(await bench.effects.listUnresolved()).toEqual([]);
    expect(await bench.effects.listEffects("t1", "")).toMatchObject([
      { state: "resolved", resolution: { kind: "happened", actor: "system" } },
    ]);
    await bench.effects.close();
  });

  it("lets a staged tool read the committed state, and not write", async () => {
    const seen: unknown[] = [];
    const tool = scriptedTool("mail", {
      execute: async (_args, { state }) => {
        seen.push(Buffer.from((await state.get("k")) ?? []).toString());
        expect(() => state.put("k", new Uint8Array())).toThrow(/committed/);
        return null;
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await driver.tx.put("k", Buffer.from("value"));
    await driver.stage(tool, "a");
    await driver.commit();
    await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(seen).toEqual(["value"]);
  });

  it("finds outboxes of every namespace after a restart", async () => {
    const sink = sinkOf(0);
    const bench = new EffectsBench([sink.tool]);
    const driver = await bench.begin("t1", "acme");
    await driver.stage(sink.tool, "a");
    await driver.commit();
    await bench.crash();
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(sink.delivered).toEqual(["a"]);
    await bench.effects.close();
  });

  it("refuses the commit while an effect is open (E8a)", async () => {
    const tool = scriptedTool("book", { deadlineMs: 10, execute: () => noAnswer<JsonValue>() });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, "a"));
    await driver.stage(tool, "b");
    await expect(driver.commit()).rejects.toMatchObject({
      code: "RECONCILIATION_REQUIRED",
      details: { effects: ["t1/1"] },
    });
    expect(await driver.states()).toEqual(["unresolved", "staged"]);
  });
});
