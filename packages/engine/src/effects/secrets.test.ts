// Goal: no record holds a secret; compensation gets it all the same; nobody can smuggle one out (C9).

import type { JsonValue } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { fillSecrets, hiddenTexts, hideIn, secretPathsOf } from "./secrets.js";
import { EffectsBench } from "./testing/effects-bench.js";
import { noAnswer, scriptedTool } from "./testing/scripted-tool.js";

const SECRETS = { get: async (name: string) => (name === "TOKEN" ? "hunter2" : null) };
const ARGS = { headers: { "a/b~c": "Bearer hunter2" }, order: 7 };
const TOKEN = reference("TOKEN");
const RECORDED = { headers: { "a/b~c": `Bearer ${TOKEN}` }, order: 7 };

function reference(name: string): string {
  return `\${secrets.${name}}`;
}

async function allRecords(bench: EffectsBench): Promise<string> {
  const spaces = ["effect", "saga", "outbox", "meta", "late"] as const;
  const rows = await Promise.all(
    spaces.map((space) => bench.store.scanRecords(space, { transaction: null })),
  );
  const audit = await bench.store.readAudit("t1");
  return [...rows.flat().map(({ value }) => value), ...audit.map(({ payload }) => payload)]
    .map((bytes) => Buffer.from(bytes).toString())
    .join("\n");
}

describe("secrets of a call", () => {
  it("are in no record, and in the hands of compensation, lookup and verification", async () => {
    const seen: JsonValue[] = [];
    const tool = scriptedTool("book", {
      deadlineMs: 10,
      execute: () => noAnswer<JsonValue>(),
      lookup: ({ args }) => {
        seen.push(args);
        return { status: "landed" };
      },
      compensate: ({ args }) => void seen.push(args),
      verify: ({ args }) => {
        seen.push(args);
        return true;
      },
    });
    const bench = new EffectsBench([tool], { secrets: SECRETS });
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, ARGS, { recordedArgs: RECORDED }));
    await bench.crash();
    const again = await bench.attach();
    expect(await bench.finish(again.compensate())).toMatchObject({ run: 1 });
    expect(seen).toEqual([ARGS, ARGS, ARGS]);
    expect(await allRecords(bench)).not.toContain("hunter2");
  });

  it("are hidden in undo arguments that the tool registers, and filled in for the undo", async () => {
    const seen: JsonValue[] = [];
    const tool = scriptedTool("book", {
      undo: { cancel: (args) => void seen.push(args) },
      execute: async (args, { registerUndo }) => {
        await registerUndo("cancel", { auth: (args as typeof ARGS).headers["a/b~c"], id: 1 });
        return null;
      },
    });
    const bench = new EffectsBench([tool], { secrets: SECRETS });
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, ARGS, { recordedArgs: RECORDED }));
    expect(await allRecords(bench)).not.toContain("hunter2");
    await bench.finish(driver.compensate());
    expect(seen).toEqual([{ auth: "Bearer hunter2", id: 1 }]);
  });

  it("are taken out of receipts, of parts of undo arguments and of late results", async () => {
    const redact = (value: JsonValue): JsonValue =>
      JSON.parse(JSON.stringify(value).replaceAll("hunter2", TOKEN)) as JsonValue;
    const seen: JsonValue[] = [];
    let answer: (value: JsonValue) => void = () => undefined;
    const tool = scriptedTool("book", {
      deadlineMs: 10,
      undo: { cancel: (args) => void seen.push(args) },
      lookup: () => ({ status: "landed", output: { url: "https://x/?t=hunter2" } }),
      execute: async (_args, { registerUndo }) => {
        await registerUndo("cancel", { url: "https://x/?t=hunter2" });
        return new Promise<JsonValue>((resolve) => {
          answer = resolve;
        });
      },
    });
    const bench = new EffectsBench([tool], { secrets: SECRETS });
    const driver = await bench.begin();
    const options = { recordedArgs: RECORDED, redact };
    expect(await bench.finish(driver.call(tool, ARGS, options))).toMatchObject({
      kind: "succeeded",
    });
    answer({ late: "hunter2" });
    await bench.clock.advance(1);
    expect(await bench.late()).toHaveLength(1);
    expect(await allRecords(bench)).not.toContain("hunter2");
    await bench.finish(driver.compensate());
    expect(seen).toEqual([{ url: "https://x/?t=hunter2" }]);
  });

  it("are filled in for a staged effect when it is sent", async () => {
    const seen: JsonValue[] = [];
    const tool = scriptedTool("mail", {
      execute: (args) => {
        seen.push(args);
        return null;
      },
    });
    const bench = new EffectsBench([tool], { secrets: SECRETS });
    const driver = await bench.begin();
    await driver.stage(tool, ARGS, { recordedArgs: RECORDED });
    await driver.commit();
    expect(await allRecords(bench)).not.toContain("hunter2");
    await bench.finish(bench.effects.deliver("t1", "", 1_000));
    expect(seen).toEqual([ARGS]);
  });

  it("that are missing leave the undo open until they are there", async () => {
    const undone: JsonValue[] = [];
    const tool = scriptedTool("book", { compensate: ({ args }) => void undone.push(args) });
    const bench = new EffectsBench([tool], { secrets: { get: async () => null } });
    const driver = await bench.begin();
    await bench.finish(driver.call(tool, ARGS, { recordedArgs: RECORDED }));
    const report = await bench.finish(driver.compensate());
    expect(undone).toEqual([]);
    expect(report.errors[0]?.message).toContain('Secret "TOKEN" is not available');
  });
});

describe("text that only looks like a reference", () => {
  it("came out of an output and is never filled in", async () => {
    const text = { note: TOKEN };
    const paths = secretPathsOf(hiddenTexts(text, text));
    expect(await fillSecrets(text, paths, SECRETS)).toEqual(text);
  });

  it("spoils the text it is mixed into: nothing of it is filled in", async () => {
    const recorded = { note: `${TOKEN} ${reference("OTHER")}` };
    const clear = { note: `hunter2 ${reference("OTHER")}` };
    expect(secretPathsOf(hiddenTexts(clear, recorded))).toEqual([]);
  });
});

describe("hidden texts", () => {
  it("are found by JSON pointer, redacted ones included, and redacted ones stay so", () => {
    const hidden = hiddenTexts({ pin: "1234", list: ["x"] }, { pin: "[redacted]", list: ["x"] });
    expect(hidden).toEqual([{ path: "/pin", clear: "1234", recorded: "[redacted]" }]);
    expect(secretPathsOf(hidden)).toEqual([]);
    expect(hideIn({ code: "1234" }, hidden, [])).toEqual({
      args: { code: "[redacted]" },
      secretPaths: [],
    });
  });

  it("survive a member named __proto__", async () => {
    const recorded = JSON.parse(`{"__proto__":{"t":"${TOKEN}"}}`) as JsonValue;
    const filled = await fillSecrets(recorded, ["/__proto__/t"], SECRETS);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"t":"hunter2"}}');
  });
});
