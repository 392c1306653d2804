// Goal: what stays open is shown, and a person's word settles it once (C6).

import type { JsonValue, LookupResult, Resolution, ResolutionKind } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "./contract.js";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, Outside, scriptedTool } from "./testing/scripted-tool.js";

const NAME = { transaction: "t1", namespace: "", seq: 1 };

function say(kind: ResolutionKind, note = "called the carrier", actor = "ann"): Resolution {
  return { kind, actor, note, atMs: 5 };
}

/** An effect whose outcome nobody knows. */
async function unknownOutcome(more: Parameters<typeof scriptedTool>[1] = {}) {
  const outside = new Outside();
  const tool = scriptedTool("book", {
    deadlineMs: 10,
    execute: (args) => {
      outside.do(String(args));
      return noAnswer<JsonValue>();
    },
    compensate: ({ args }, { undoKey }) => outside.undo(String(args), undoKey),
    ...more,
  });
  const bench = new EffectsBench([tool]);
  const driver = await bench.begin();
  await bench.finish(driver.call(tool, "a"));
  return { outside, bench, driver, tool };
}

/** An effect whose undo needs a person first. */
async function askedFor(tool: AnyTool) {
  const bench = new EffectsBench([tool]);
  const driver = await bench.begin();
  await bench.finish(driver.call(tool, "a"));
  await bench.finish(driver.compensate());
  return { bench, driver };
}

describe("resolve", () => {
  for (const kind of ["did-not-happen", "compensated-by-hand", "accepted-as-is"] as const) {
    it(`settles with "${kind}", durably, and touches nothing outside`, async () => {
      const { bench, outside } = await unknownOutcome();
      const told: string[] = [];
      await bench.effects.start(async (transaction) => void told.push(transaction));
      const effect = await bench.finish(bench.effects.resolve(NAME, say(kind)));
      expect(effect).toMatchObject({ state: "resolved", resolution: say(kind), waitsFor: null });
      expect(outside.undone).toEqual([]);
      expect(await bench.effects.listUnresolved()).toEqual([]);
      expect(await bench.undoRecords()).toBe(0);
      expect(told).toEqual(["t1"]);
      await bench.effects.close();
      await bench.crash();
      expect(await bench.effects.listEffects("t1", "")).toMatchObject([{ state: "resolved" }]);
    });
  }

  it("takes back what a person says has happened, where it can be taken back", async () => {
    const { bench, outside } = await unknownOutcome();
    const effect = await bench.finish(bench.effects.resolve(NAME, say("happened")));
    expect(effect).toMatchObject({ state: "compensated", resolution: say("happened") });
    expect(outside.undone).toEqual(["a"]);
    expect(await bench.effects.resolve(NAME, say("happened"))).toEqual(effect);
    expect(outside.undone).toEqual(["a"]);
  });

  it("accepts as it stands what has happened and cannot be taken back", async () => {
    const tool = scriptedTool("pay", {
      effect: "irreversible",
      irreversible: { pivot: true, forwardRecovery: "Refund desk" },
    });
    const bench = new EffectsBench([tool]);
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, {}, { effectClass: "irreversible" }));
    await bench.finish(driver.compensate());
    const effect = await bench.finish(bench.effects.resolve(NAME, say("happened")));
    expect(effect).toMatchObject({ state: "resolved", resolution: { kind: "happened" } });
  });

  it("is harmless when it is repeated, also later and after a restart", async () => {
    const { bench } = await unknownOutcome();
    const first = await bench.effects.resolve(NAME, say("did-not-happen"));
    const again = { ...say("did-not-happen"), atMs: 99 };
    expect(await bench.effects.resolve(NAME, again)).toEqual(first);
    await bench.crash();
    expect(await bench.effects.resolve(NAME, again)).toEqual(first);
  });

  it("is refused when something else was recorded, and two at once have one winner", async () => {
    const { bench } = await unknownOutcome();
    const results = await Promise.allSettled([
      bench.effects.resolve(NAME, say("did-not-happen", "no trace", "ann")),
      bench.effects.resolve(NAME, say("compensated-by-hand", "cancelled", "bob")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await expect(
      bench.effects.resolve(NAME, say("did-not-happen", "another note")),
    ).rejects.toMatchObject({ code: "RESOLUTION_CONFLICT" });
    expect(await bench.effects.listEffects("t1", "")).toMatchObject([
      { resolution: { actor: "ann" } },
    ]);
  });

  it("starts an undo that waited to be asked for, and a repeat does not start it again", async () => {
    let undone = 0;
    const tool = scriptedTool("book", {
      compensation: "ask",
      compensate: () => {
        undone += 1;
      },
    });
    const { bench } = await askedFor(tool);
    const effect = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(effect).toMatchObject({ state: "compensated", resolution: { kind: "retry" } });
    await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(undone).toBe(1);
  });

  it("keeps an approved undo going in the background after it failed", async () => {
    let closed = true;
    const tool = scriptedTool("book", {
      compensation: "ask",
      compensate: () => {
        if (closed) throw new Error("closed");
      },
    });
    const { bench, driver } = await askedFor(tool);
    const open = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(open).toMatchObject({ state: "unresolved", waitsFor: "retry", problem: "closed" });
    await bench.effects.start(async () => undefined);
    closed = false;
    await bench.clock.advance(60_000);
    expect(await driver.states()).toEqual(["compensated"]);
    await bench.effects.close();
  });

  it("asks anew when a retry ends dirty again, and takes another answer then", async () => {
    const tool = scriptedTool("write", {
      compensate: () => ({ status: "dirty", expected: "1", found: "2" }),
    });
    const { bench } = await askedFor(tool);
    const open = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(open).toMatchObject({ state: "unresolved", waitsFor: "person", resolution: null });
    const done = await bench.effects.resolve(NAME, say("accepted-as-is"));
    expect(done).toMatchObject({ state: "resolved", resolution: { kind: "accepted-as-is" } });
  });

  it("looks up again on retry and undoes nothing on a guess (E5)", async () => {
    const answers: LookupResult[] = [];
    const { bench, outside } = await unknownOutcome({
      lookup: () => answers.shift() ?? { status: "unknown" },
    });
    const still = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(still.state).toBe("unresolved");
    expect(outside.undone).toEqual([]);
    answers.push({ status: "landed" });
    const done = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(done.state).toBe("compensated");
    expect(outside.undone).toEqual(["a"]);
  });

  it("sends a parked delivery again, or takes it out", async () => {
    let down = true;
    const sent: JsonValue[] = [];
    const tool = scriptedTool("mail", {
      execute: (args) => {
        if (down) throw new Error("down");
        sent.push(args);
        return null;
      },
    });
    const bench = new EffectsBench([tool], { limits: { deliveryTriesMax: 1 } });
    const driver = await bench.begin();
    await driver.stage(tool, "a");
    await driver.stage(tool, "b");
    await driver.commit();
    await bench.finish(bench.effects.deliver("t1", "", 5_000));
    expect(await bench.effects.listUnresolved()).toHaveLength(2);
    down = false;
    const first = await bench.finish(bench.effects.resolve(NAME, say("retry")));
    expect(first).toMatchObject({ state: "resolved", resolution: { actor: "system" } });
    const second = await bench.effects.resolve({ ...NAME, seq: 2 }, say("did-not-happen"));
    expect(second).toMatchObject({ state: "resolved", resolution: { actor: "ann" } });
    expect(sent).toEqual(["a"]);
    expect(await bench.store.scanRecords("outbox", { transaction: null })).toEqual([]);
    expect(await bench.effects.listUnresolved()).toEqual([]);
  });

  it("names what is wrong with a call that it cannot serve", async () => {
    const { bench, driver, tool } = await unknownOutcome();
    await expect(bench.effects.resolve({ ...NAME, seq: 9 }, say("retry"))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(bench.effects.resolve(NAME, say("retry", " "))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const fine = scriptedTool("book", { execute: () => 1 });
    expect(tool.name).toBe(fine.name);
    await bench.finish(driver.call(fine, "b"));
    await expect(
      bench.effects.resolve({ ...NAME, seq: 2 }, say("accepted-as-is")),
    ).rejects.toMatchObject({ code: "RESOLUTION_CONFLICT" });
  });

  it("records who said it and why in the audit chain (C9)", async () => {
    const { bench } = await unknownOutcome();
    await bench.effects.resolve(NAME, say("did-not-happen", "no trace at the carrier"));
    const audit = await bench.store.readAudit("t1");
    expect(JSON.parse(Buffer.from(audit.at(-1)?.payload ?? []).toString())).toMatchObject({
      ev: "resolve:did-not-happen",
      actor: "ann",
      why: "no trace at the carrier",
    });
  });
});

describe("listUnresolved", () => {
  it("shows the oldest first over all namespaces, page by page, each once", async () => {
    const tool = scriptedTool("book", { deadlineMs: 10, execute: () => noAnswer<JsonValue>() });
    const bench = new EffectsBench([tool]);
    const expected: string[] = [];
    for (let index = 0; index < 24; index += 1) {
      const namespace = ["", "acme", "zeta"][index % 3] ?? "";
      const driver = await bench.begin(`t${(index * 7) % 24}`, namespace);
      await bench.finish(driver.call(tool, index));
      expected.push(`${driver.tx.id}/1`);
      if (index % 2 === 0) await bench.clock.advance(1_000);
    }
    const seen: string[] = [];
    const namespaceOf = (id: string): string => {
      const index = expected.indexOf(id);
      return ["", "acme", "zeta"][index % 3] ?? "";
    };
    let page = await bench.effects.listUnresolved({ limit: 5 });
    while (page.length > 0) {
      seen.push(...page.map(({ effectId }) => effectId));
      const last = page.at(-1);
      if (last === undefined) break;
      const namespace = namespaceOf(last.effectId);
      const after = { transaction: last.transaction, namespace, seq: 1 };
      page = await bench.effects.listUnresolved({ limit: 5, after });
    }
    expect([...seen].sort()).toEqual([...expected].sort());
    const ages = await Promise.all(
      seen.map(async (id) => {
        const [transaction = ""] = id.split("/");
        const [effect] = await bench.effects.listEffects(transaction, namespaceOf(id));
        return effect?.createdAtMs ?? 0;
      }),
    );
    expect(ages).toEqual([...ages].sort((one, other) => one - other));
  });
});
