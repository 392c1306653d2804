// Goal: a staged effect is delivered durably, and once although it is delivered again. Method:
// real files, torn and repeated on purpose.

import { mkdtempSync } from "node:fs";
import { appendFile, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, toolContext, undoContext } from "../testing/context.js";
import { jsonLinesSink } from "./json-lines.js";
import { effectTools } from "./tools.js";

let directory = "";
let path = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "agenttx-sink-"));
  path = join(directory, "outbox.jsonl");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const effect = (key: string, payload: string = key) => ({
  idempotencyKey: key,
  transaction: "t",
  step: 3,
  payload,
});
const signal = new AbortController().signal;
const lines = async (): Promise<string[]> =>
  (await readFile(path, "utf8")).split("\n").slice(0, -1);
const keys = async (): Promise<string[]> =>
  (await lines()).map((line) => (JSON.parse(line) as { idempotencyKey: string }).idempotencyKey);

describe("JSON Lines sink", () => {
  it("writes one line with key, transaction, step and payload", async () => {
    const sink = jsonLinesSink({ path });
    expect(await sink.deliver(effect("k", "line\nbreak"), signal)).toEqual({ duplicate: false });
    expect(await lines()).toEqual([JSON.stringify(effect("k", "line\nbreak"))]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("does not write an effect again that it has", async () => {
    const sink = jsonLinesSink({ path });
    await sink.deliver(effect("a"), signal);
    await sink.deliver(effect("b"), signal);
    expect(await sink.deliver(effect("a"), signal)).toEqual({ duplicate: true });
    expect(await jsonLinesSink({ path }).deliver(effect("b"), signal)).toEqual({ duplicate: true });
    expect(await keys()).toEqual(["a", "b"]);
  });

  it("tells a key from a payload that mentions it", async () => {
    const sink = jsonLinesSink({ path });
    await sink.deliver(effect("a", '"idempotencyKey":"b"'), signal);
    expect(await sink.deliver(effect("b"), signal)).toEqual({ duplicate: false });
  });

  it("keeps the order of deliveries that were started together", async () => {
    const sink = jsonLinesSink({ path });
    const names = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await Promise.all(names.map((name) => sink.deliver(effect(name), signal)));
    expect(await keys()).toEqual(names);
  });

  it("cuts off a line torn by a crash, at any byte, and delivers again", async () => {
    const sink = jsonLinesSink({ path });
    await sink.deliver(effect("whole"), signal);
    const { size } = await stat(path);
    await sink.deliver(effect("torn"), signal);
    const full = await readFile(path);
    for (let cut = size; cut < full.byteLength; cut += 1) {
      await writeFile(path, full);
      await truncate(path, cut);
      expect(await sink.deliver(effect("torn"), signal)).toEqual({ duplicate: false });
      expect(Buffer.compare(await readFile(path), full)).toBe(0);
    }
  });

  it("finds the end of a torn line that is longer than the tail it reads", async () => {
    const sink = jsonLinesSink({ path, tailBytes: 64 });
    await sink.deliver(effect("whole"), signal);
    await appendFile(path, `{"idempotencyKey":"${"x".repeat(1_000)}`);
    await sink.deliver(effect("next"), signal);
    expect(await keys()).toEqual(["whole", "next"]);
  });

  it("lives with lines that others wrote", async () => {
    await writeFile(path, "not json\n[]\nnull\n");
    const sink = jsonLinesSink({ path });
    expect(await sink.deliver(effect("k"), signal)).toEqual({ duplicate: false });
    expect((await lines()).length).toBe(4);
  });

  it("goes on after a delivery that failed", async () => {
    const sink = jsonLinesSink({ path: join(directory, "missing", "outbox.jsonl") });
    for (const _ of [1, 2]) {
      await expect(sink.deliver(effect("k"), signal)).rejects.toThrow("ENOENT");
    }
  });
});

describe("effect.stage", () => {
  const make = () => effectTools({ sinks: { mail: jsonLinesSink({ path }) } });

  it("is irreversible and staged", () => {
    const [stage] = make();
    expect([stage.effect, stage.irreversible, stage.scope]).toEqual([
      "irreversible",
      "staged",
      undefined,
    ]);
  });

  it("delivers to the sink named, once for one key", async () => {
    const [stage] = make();
    const deliver = () => call(stage, { sink: "mail", payload: { to: "x" } }, toolContext());
    expect(await deliver()).toEqual({ sink: "mail", delivered: true, duplicate: false });
    expect(await deliver()).toEqual({ sink: "mail", delivered: true, duplicate: true });
    expect(await keys()).toEqual(["key-1"]);
  });

  it("knows whether an effect was delivered", async () => {
    const [stage] = make();
    const args = { sink: "mail", payload: null };
    const lookup = () => stage.lookup?.({ args, idempotencyKey: "key-1" }, undoContext());
    expect(await lookup()).toEqual({ status: "absent", final: false });
    await call(stage, args, toolContext());
    const output = { sink: "mail", delivered: true, duplicate: false };
    expect(await lookup()).toEqual({ status: "landed", output });
  });

  it("does not claim to know what its sink cannot tell", async () => {
    const [stage] = effectTools({ sinks: { x: { deliver: async () => ({ duplicate: false }) } } });
    const args = { sink: "x", payload: null };
    const answer = await stage.lookup?.({ args, idempotencyKey: "k" }, undoContext());
    expect(answer).toEqual({ status: "unknown" });
  });

  it("refuses an unknown sink, an unknown argument and no sink at all", async () => {
    const [stage] = make();
    const attempt = (args: object) => call(stage, args, toolContext());
    await expect(attempt({ sink: "fax", payload: 1 })).rejects.toThrow(/sink/);
    await expect(attempt({ sink: "mail", payload: 1, cc: 1 })).rejects.toThrow(/cc/);
    expect(() => effectTools({ sinks: {} })).toThrow(
      expect.objectContaining({ code: "TOOL_INVALID" }),
    );
  });
});
