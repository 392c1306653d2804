// Goal: what stays open is found again on disk, retried, and told when it is settled (E8, C8).

import type { JsonValue, LookupResult } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "./contract.js";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, Outside, scriptedTool } from "./testing/scripted-tool.js";

/** Undo fails while `closed`; counts every try. */
function carrier(outside: Outside): { tool: AnyTool; closed: boolean; tries: number } {
  const state = {
    closed: true,
    tries: 0,
    tool: scriptedTool("book", {
      execute: (args) => {
        outside.do(String(args));
        return args;
      },
      compensate: ({ args }, { undoKey }) => {
        state.tries += 1;
        if (state.closed) throw new Error("carrier is closed");
        outside.undo(String(args), undoKey);
      },
    }),
  };
  return state;
}

async function openEffect(bench: EffectsBench, tool: AnyTool, ...args: readonly JsonValue[]) {
  const driver = await bench.begin();
  for (const one of args) await bench.finish(driver.call(tool, one));
  await bench.finish(driver.compensate());
  return driver;
}

describe("the background", () => {
  it("undoes what was left open, and tells when the transaction is settled", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await openEffect(bench, service.tool, "a");
    const told: string[] = [];
    await bench.effects.start(async (transaction) => void told.push(transaction));
    await bench.clock.advance(20_000);
    expect(await driver.states()).toEqual(["unresolved"]);
    expect(told).toEqual([]);
    service.closed = false;
    await bench.clock.advance(300_000);
    expect(await driver.states()).toEqual(["compensated"]);
    expect(told).toEqual(["t1"]);
    expect(await bench.effects.listUnresolved()).toEqual([]);
    expect(await bench.undoRecords()).toBe(0);
    const { tries } = service;
    await bench.clock.advance(600_000);
    expect(service.tries).toBe(tries);
    await bench.effects.close();
  });

  it("waits longer after each failed try, up to the cap, for ever (E8)", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await openEffect(bench, service.tool, "a");
    await bench.effects.start(async () => undefined);
    const inline = service.tries;
    await bench.clock.advance(60_000);
    const firstMinute = service.tries - inline;
    expect(firstMinute).toBeGreaterThanOrEqual(6);
    expect(firstMinute).toBeLessThan(12);
    await bench.clock.advance(3_600_000);
    expect(service.tries - inline - firstMinute).toBeLessThan(24);
    service.closed = false;
    await bench.clock.advance(300_000);
    expect(await driver.states()).toEqual(["compensated"]);
    await bench.effects.close();
  });

  it("goes on after a restart, for a transaction that has ended too", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await openEffect(bench, service.tool, "a", "b");
    await driver.tx.discard();
    await bench.crash();
    service.closed = false;
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(300_000);
    expect(outside.undone).toEqual(["b", "a"]);
    expect(await bench.effects.listUnresolved()).toEqual([]);
    await bench.effects.close();
  });

  it("tries once at a start, however long the process before meant to wait (B5)", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool], { limits: { backoffBaseMs: 250_000 } });
    await openEffect(bench, service.tool, "a");
    const { tries } = service;
    for (let start = 1; start <= 2; start += 1) {
      await bench.crash();
      await bench.effects.start(async () => undefined);
      await bench.clock.advance(20_000);
      expect(service.tries).toBe(tries + start);
    }
    service.closed = false;
    await bench.crash();
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(100);
    expect(outside.undone).toEqual(["a"]);
    await bench.effects.close();
  });

  it("makes a try that was cut off again at the next look (B5)", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool], { limits: { backoffBaseMs: 250_000 } });
    await openEffect(bench, service.tool, "a");
    await bench.crash();
    service.closed = false;
    // Storage is unwell for one try: nothing of it became durable.
    const { attach } = bench.store;
    bench.store.attach = () => Promise.reject(new Error("unwell"));
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(100);
    expect(outside.undone).toEqual([]);
    bench.store.attach = attach;
    await bench.clock.advance(6_000);
    expect(outside.undone).toEqual(["a"]);
    await bench.effects.close();
  });

  it("goes on with an undo that the process died in", async () => {
    const keys: string[] = [];
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    await openEffect(bench, service.tool, "a");
    const hanging = scriptedTool("book", {
      compensate: (_call, { undoKey }) => {
        keys.push(undoKey);
        return noAnswer<void>();
      },
    });
    await bench.crash([hanging]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1_000);
    expect((await bench.effects.listEffects("t1", ""))[0]?.state).toBe("compensating");
    service.closed = false;
    await bench.crash([service.tool]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(10_000);
    expect(keys).toEqual(["t1/1/undo/1"]);
    expect(outside.undone).toEqual(["a"]);
    await bench.effects.close();
  });

  it("undoes what waited for another effect as soon as that is undone", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(service.tool, "a"));
    await bench.finish(driver.call(service.tool, "b", { dependsOn: ["t1/1"] }));
    await bench.finish(driver.compensate());
    expect(await driver.states()).toEqual(["unresolved", "unresolved"]);
    service.closed = false;
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1_000);
    expect(outside.undone).toEqual(["b", "a"]);
    await bench.effects.close();
  });

  it("never undoes what an effect uses that is still open, whichever is due first (E8)", async () => {
    const outside = new Outside();
    const tool = scriptedTool("book", {
      execute: (args) => {
        outside.do(String(args));
        return args;
      },
      compensate: ({ args }, { undoKey }) => {
        if (args === "b") throw new Error("never");
        outside.undo(String(args), undoKey);
      },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, "a"));
    await bench.finish(driver.call(tool, "b", { dependsOn: ["t1/1"] }));
    await bench.finish(driver.compensate());
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(3_600_000);
    expect(outside.undone).toEqual([]);
    await bench.effects.close();
  });

  it("looks up again what nobody could tell", async () => {
    const outside = new Outside();
    const answers = new Map<JsonValue, LookupResult>();
    const tool = scriptedTool("book", {
      deadlineMs: 10,
      execute: (args) => {
        outside.do(String(args));
        return noAnswer<JsonValue>();
      },
      compensate: ({ args }, { undoKey }) => outside.undo(String(args), undoKey),
      lookup: ({ args }) => answers.get(args) ?? { status: "unknown" },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, "a"));
    await bench.finish(driver.call(tool, "b"));
    const told: string[] = [];
    await bench.effects.start(async (transaction) => void told.push(transaction));
    await bench.clock.advance(5_000);
    expect(await driver.states()).toEqual(["unresolved", "unresolved"]);
    answers.set("a", { status: "landed", output: 1 });
    answers.set("b", { status: "absent", final: true });
    await bench.clock.advance(60_000);
    expect(await driver.list()).toMatchObject([
      { state: "compensated" },
      { state: "resolved", resolution: { kind: "did-not-happen", actor: "system" } },
    ]);
    expect(outside.undone).toEqual(["a"]);
    expect(told).toEqual(["t1"]);
    await bench.effects.close();
  });

  it("leaves what waits for a person alone", async () => {
    let calls = 0;
    const tool = scriptedTool("write", {
      compensate: () => {
        calls += 1;
        return { status: "dirty", expected: "1", found: "2" };
      },
    });
    const bench = new EffectsBench([tool]);
    await openEffect(bench, tool, "a");
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(3_600_000);
    expect(calls).toBe(1);
    await bench.effects.close();
  });

  it("does not touch effects of a running transaction that are not open", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await openEffect(bench, service.tool, "a");
    await bench.finish(driver.call(service.tool, "b"));
    service.closed = false;
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(60_000);
    expect(await driver.states()).toEqual(["compensated", "confirmed"]);
    expect(outside.standing).toEqual(["b"]);
    await bench.effects.close();
  });

  it("goes on when a tool is back", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(service.tool, "a"));
    await bench.crash([]);
    const without = await bench.attach();
    await bench.finish(without.compensate());
    service.closed = false;
    await bench.crash([service.tool]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1);
    expect(outside.undone).toEqual(["a"]);
    await bench.effects.close();
  });

  it("is not held up by owners that do not answer (B2)", async () => {
    const outside = new Outside();
    const sent: JsonValue[] = [];
    const silent = scriptedTool("silent", {
      deadlineMs: 1_000_000,
      compensate: () => noAnswer<void>(),
    });
    const failing = scriptedTool("silent", {
      compensate: () => {
        throw new Error("closed");
      },
    });
    const service = carrier(outside);
    const mail = scriptedTool("mail", {
      execute: (args) => {
        sent.push(args);
        return null;
      },
    });
    const limits = { concurrency: 2 };
    const bench = new EffectsBench([failing, service.tool, mail], { limits });
    const silentOne = await bench.begin("t0");
    await bench.finish(silentOne.call(failing, "s"));
    await bench.finish(silentOne.compensate());
    await openEffect(bench, service.tool, "a");
    await bench.crash([silent, service.tool, mail]);
    service.closed = false;
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(10_000);
    const staging = await bench.begin("t2");
    await staging.stage(mail, "m");
    await staging.commit();
    await bench.clock.advance(10_000);
    expect((await bench.effects.listEffects("t0", ""))[0]?.state).toBe("compensating");
    expect(outside.undone).toEqual(["a"]);
    expect(sent).toEqual(["m"]);
    await bench.effects.close();
  });

  it("does not turn in circles over what stays due (B3)", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool], { limits: { deliveryTriesMax: 1 } });
    const driver = await bench.begin();
    await bench.finish(driver.call(service.tool, "a"));
    await bench.crash([]);
    await bench.finish((await bench.attach()).compensate());
    const mail = scriptedTool("mail", {
      execute: () => {
        throw new Error("down");
      },
    });
    // The tool is back without its undo, a row waits for a parked one, another has no record.
    await bench.crash([scriptedTool("book"), mail]);
    const staging = await bench.begin("t2");
    const first = await staging.stage(mail, "m");
    await staging.stage(mail, "uses m", { dependsOn: [first] });
    await staging.commit();
    const value = Buffer.from("{}");
    await bench.store.writeRecords("t3", { records: [{ space: "outbox", seq: 1, value }] });
    let scans = 0;
    const { scanRecords } = bench.store;
    bench.store.scanRecords = (space, range) => {
      if (space === "outbox" && range.transaction === null) scans += 1;
      return scanRecords.call(bench.store, space, range);
    };
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(60_000);
    // Each of 13 polls looks once to start and once per lane to count; a look reads two pages.
    expect(scans).toBeLessThan(100);
    await bench.effects.close();
  });

  it("tells again when the driver could not take the news", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    await openEffect(bench, service.tool, "a");
    service.closed = false;
    let told = 0;
    await bench.effects.start(async () => {
      told += 1;
      if (told < 3) throw new Error("busy");
    });
    await bench.clock.advance(60_000);
    expect(told).toBe(3);
    await bench.effects.close();
  });

  it("is not held up when the wall clock goes back by years", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    await openEffect(bench, service.tool, "a");
    service.closed = false;
    const { clock } = bench;
    const early = {
      now: () => clock.now() - 10 * 365 * 86_400_000,
      monotonic: () => clock.monotonic(),
      schedule: (ms: number, run: () => void) => clock.schedule(ms, run),
    };
    const { createEffects } = await import("./create-effects.js");
    const { registryOf } = await import("./testing/scripted-tool.js");
    const tools = registryOf(service.tool);
    const effects = createEffects({ store: bench.store, tools, clock: early });
    await effects.start(async () => undefined);
    await clock.advance(6_000);
    expect(outside.undone).toEqual(["a"]);
    await effects.close();
  });

  it("stops at once on close and leaves the work for the next start", async () => {
    const hanging = scriptedTool("book", {
      compensate: () => noAnswer<void>(),
      deadlineMs: 1_000_000,
    });
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    await openEffect(bench, service.tool, "a");
    await bench.crash([hanging]);
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(1_000);
    const began = bench.clock.now();
    await bench.effects.close();
    expect(bench.clock.now()).toBe(began);
    expect(await bench.effects.listUnresolved()).toHaveLength(1);
  });

  it("finds one open effect among thousands of transactions without reading their effects", async () => {
    const outside = new Outside();
    const service = carrier(outside);
    const bench = new EffectsBench([service.tool]);
    for (let index = 0; index < 300; index += 1) {
      const driver = await bench.begin(`done-${index}`);
      await bench.finish(driver.call(service.tool, `done ${index}`));
      await driver.commit();
    }
    await openEffect(bench, service.tool, "a");
    const read: string[] = [];
    const { scanRecords } = bench.store;
    bench.store.scanRecords = (space, range) => {
      if (space === "effect") read.push(String(range.transaction));
      return scanRecords.call(bench.store, space, range);
    };
    expect(await bench.effects.listUnresolved()).toHaveLength(1);
    service.closed = false;
    await bench.effects.start(async () => undefined);
    await bench.clock.advance(2_000);
    expect(new Set(read)).toEqual(new Set(["t1"]));
    expect(outside.undone).toEqual(["a"]);
    await bench.effects.close();
  });
});
