// Goal: `agenttx run` ends with the exit code it documents, tells the same in JSON, and leaves in the
// world exactly what its outcome says. Method: the built command as a process, effects as files.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Workplace } from "./agenttx.js";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.remove());

const put = (value: string) => ["world.put", { value }] as const;
const FAILS = ["fail", { text: "something broke" }] as const;
const NO_SECOND_TRY = { policy: { maxLocalDepth: 0, maxGlobalResets: 0 } };

describe("agenttx run", () => {
  it("commits, ends with 0 and keeps the effects", async () => {
    const plan = place.plan("good", [put("a"), ["kv.put", { key: "k", value: 1 }]]);
    const done = await place.run(["run", plan, ...place.tools, "--json"]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.lines().at(-1)).toMatchObject({
      apiVersion: "agenttx.cli/v1",
      type: "result",
      status: "COMMITTED",
      exitCode: 0,
      stepsCommitted: 2,
      recovery: null,
    });
    expect(place.effects()).toEqual(["a"]);
  });

  it("aborts, ends with 1 and takes every effect back", async () => {
    const plan = place.plan("bad", [put("a"), put("b"), FAILS], NO_SECOND_TRY);
    const done = await place.run(["run", plan, ...place.tools, "--json"]);
    expect(done.exitCode).toBe(1);
    expect(done.lines().at(-1)).toMatchObject({ status: "FAILED", compensationsRun: 2 });
    expect(place.effects()).toEqual([]);
  });

  it("freezes, ends with 6 and keeps what could not be undone", async () => {
    const plan = place.plan("stuck", [put("a"), ["world.stuck", { value: "s" }], FAILS], {
      policy: { maxLocalDepth: 2 },
    });
    const done = await place.run(["run", plan, ...place.tools, "--json"]);
    expect(done.exitCode).toBe(6);
    const result = done.lines().at(-1);
    expect(result).toMatchObject({ status: "FROZEN", unresolvedEffects: [expect.any(String)] });
    expect(place.effects()).toContain("s");
  });

  it("runs in memory and leaves no data directory", async () => {
    const plan = place.plan("memory", [["kv.put", { key: "k", value: 1 }]]);
    expect((await place.run(["run", plan, "--memory"])).exitCode).toBe(0);
    expect((await place.run(["list", "--json"])).exitCode).toBe(3);
  });

  it("prints a timeline without escape codes when nobody looks", async () => {
    const plan = place.plan("good", [put("a"), FAILS], NO_SECOND_TRY);
    const done = await place.run(["run", plan, ...place.tools]);
    expect(done.stdout).toMatch(/✔ {2}1 {2}world\.put/);
    expect(done.stdout).toMatch(/undone/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    expect(done.stdout + done.stderr).not.toMatch(/[\u001b\r]/);
    for (const line of done.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it("speaks plain ASCII in a C locale", async () => {
    const plan = place.plan("good", [put("a")]);
    const done = await place.run(["run", plan, ...place.tools], { LANG: "C" });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
    expect(done.stdout).toMatch(/^[\u0000-\u007f]+$/);
  });

  it("colours when told to", async () => {
    const plan = place.plan("good", [put("a")]);
    const done = await place.run(["run", plan, ...place.tools], { FORCE_COLOR: "1" });
    expect(done.stdout).toContain("\u001b[");
    const plain = await place.run(["run", plan, ...place.tools, "--no-color"], {
      FORCE_COLOR: "1",
    });
    expect(plain.stdout).not.toContain("\u001b[");
  });

  it("survives no tool that fails behind its back, says so without a stack, and recovers", async () => {
    const plan = place.plan("runaway", [put("a"), ["runaway", {}], ["wait", {}]]);
    const done = await place.run(["run", plan, ...place.tools, "--json"]);
    expect(done.exitCode).toBe(1);
    expect(done.lines().at(-1)).toMatchObject({
      type: "error",
      error: { message: "behind your back" },
    });
    expect(done.stderr).not.toMatch(/\n\s+at /);
    const next = await place.run(["recover", ...place.tools, "--json"]);
    expect(next.json()).toMatchObject({ rolledBack: 1, compensationsRun: 1 });
    expect(place.effects()).toEqual([]);
  });

  it.each([
    ["a plan that is not there", () => ["run", "none.json"], 3, "NOT_FOUND"],
    ["a malformed plan", () => ["run", place.plan("empty", [])], 2, "INVALID_ARGUMENT"],
    [
      "an unknown input",
      () => ["run", place.plan("p", [put("a")]), "--input", "x=1"],
      2,
      "INVALID_ARGUMENT",
    ],
    [
      "a tools module that is not there",
      () => ["run", place.plan("p", [put("a")]), "--tools", "./no.mjs"],
      3,
      "NOT_FOUND",
    ],
    [
      "memory that shall be resumed",
      () => ["run", place.plan("p", [put("a")]), "--memory", "--keep-open"],
      2,
      "INVALID_ARGUMENT",
    ],
    ["an unknown option", () => ["run", "p.json", "--nope"], 2, "INVALID_ARGUMENT"],
  ])("refuses %s", async (_what, args, exitCode, code) => {
    const done = await place.run([...args(), "--json"]);
    expect(done.exitCode).toBe(exitCode);
    expect(done.json()).toMatchObject({ type: "error", error: { code }, exitCode });
    expect(done.stderr).toMatch(new RegExp(`^agenttx: ${code}: .+\n$`));
  });
});

describe("an interrupted run", () => {
  const waits = () => place.plan("waits", [put("a"), ["wait", {}]]);
  const atTheWait = '"tool":"wait"';

  it("takes everything back on Ctrl-C and ends with 130", async () => {
    const run = place.start(["run", waits(), ...place.tools, "--json"]);
    await run.until(atTheWait);
    run.child.kill("SIGINT");
    const done = await run.finished;
    expect(done.exitCode).toBe(130);
    expect(done.lines().at(-1)).toMatchObject({
      type: "result",
      status: "ROLLED_BACK",
      exitCode: 130,
    });
    expect(place.effects()).toEqual([]);
  });

  it("is recovered by the next run after kill -9", async () => {
    const run = place.start(["run", waits(), ...place.tools, "--json"]);
    await run.until(atTheWait);
    expect(place.effects()).toEqual(["a"]);
    run.child.kill("SIGKILL");
    expect((await run.finished).signal).toBe("SIGKILL");

    const next = place.plan("next", [put("b")]);
    const done = await place.run(["run", next, ...place.tools, "--json"]);
    expect(done.exitCode).toBe(0);
    expect(done.lines().at(-1)).toMatchObject({
      status: "COMMITTED",
      recovery: { found: 1, rolledBack: 1, compensationsRun: 1, unresolvedEffects: [] },
    });
    expect(place.effects()).toEqual(["b"]);
  });

  it("keeps the store to itself while it runs", async () => {
    const run = place.start(["run", waits(), ...place.tools, "--json"]);
    await run.until(atTheWait);
    const other = await place.run(["list", "--json"]);
    expect(other.exitCode).toBe(5);
    expect(other.json()).toMatchObject({ error: { code: "STORE_LOCKED" } });
    run.child.kill("SIGTERM");
    expect((await run.finished).exitCode).toBe(143);
  });

  it("can be left open and gone on with", async () => {
    const plan = place.plan("two", [put("a"), put("b")]);
    const open = await place.run(["run", plan, ...place.tools, "--json", "--keep-open"]);
    const { transaction, status } = open.lines().at(-1);
    expect(status).toBe("OPEN");
    expect((await place.run(["list", "--json"])).json()).toMatchObject([
      { id: transaction, status: "ACTIVE", nextStep: 3 },
    ]);
    const longer = place.plan("three", [put("a"), put("b"), put("c")]);
    const args = ["run", longer, ...place.tools, "--json", "--resume", transaction];
    const done = await place.run(args);
    expect(done.lines().at(-1)).toMatchObject({
      status: "COMMITTED",
      stepsRun: 1,
      stepsCommitted: 3,
    });
    expect(place.effects()).toEqual(["a", "b", "c"]);
    const again = await place.run(args);
    expect(again.exitCode).toBe(4);
    expect(again.lines().at(-1)).toMatchObject({ error: { code: "TRANSACTION_ENDED" } });
  });
});
