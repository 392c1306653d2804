// Goal: every command, when it works, when there is nothing, and when it fails, prints JSON that
// parses and ends with the code it documents. Method: the built command on one small history.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, Workplace } from "./agenttx.js";

const place = new Workplace();
const empty = new Workplace();
const missing = new Workplace();
let committed: string;
let frozen: string;
let effect: string;

async function run(at: Workplace, name: string, calls: Parameters<Workplace["plan"]>[1]) {
  const plan = at.plan(name, calls);
  return (await at.run(["run", plan, ...at.tools, "--json"])).lines().at(-1);
}

beforeAll(async () => {
  committed = (await run(place, "good", [["world.put", { value: "a" }]])).transaction;
  const stuck = await run(place, "stuck", [
    ["world.stuck", { value: "s" }],
    ["fail", { text: "something broke" }],
  ]);
  frozen = stuck.transaction;
  effect = stuck.unresolvedEffects[0];
  // A backup of a store without transactions is the empty one.
  await empty.run([
    "run",
    empty.plan("bad", [["fail", { text: "x" }]]),
    ...empty.tools,
    "--memory",
  ]);
}, 60_000);
afterAll(() => {
  for (const one of [place, empty, missing]) one.remove();
});

async function ok(at: Workplace, args: readonly string[], exitCode = 0): Promise<Json> {
  const done = await at.run([...args, "--json"]);
  expect(done, done.stderr).toMatchObject({ exitCode });
  return done.json();
}

describe("what there is to see", () => {
  it("lists transactions as an array, oldest first", async () => {
    expect(await ok(place, ["list"])).toMatchObject([
      { id: committed, status: "COMMITTED" },
      { id: frozen, status: "FROZEN" },
    ]);
    expect(await ok(place, ["list", "--limit", "1"])).toHaveLength(1);
  });

  it("shows one, and says what it has learnt", async () => {
    expect(await ok(place, ["show", committed])).toMatchObject({
      apiVersion: "agenttx.cli/v1",
      type: "transaction",
      id: committed,
      stepsCommitted: 1,
    });
    expect((await ok(place, ["show", frozen])).constraints).toHaveLength(1);
  });

  it("explains the decision of a failure with its rule", async () => {
    const { entries } = await ok(place, ["explain", frozen]);
    const decision = entries.find((entry: Json) => entry.kind === "decision");
    expect(decision.decision.reason.rule).toMatch(/^R\d$/);
    const text = await place.run(["explain", frozen]);
    expect(text.stdout).toMatch(/LOCAL_BACKTRACK: .*rule R3/);
  });

  it("lists what could not be undone", async () => {
    expect(await ok(place, ["unresolved"])).toMatchObject([
      { effectId: effect, tool: "world.stuck", state: "unresolved", waitsFor: "person" },
    ]);
  });

  it("verifies the audit chains, one or all", async () => {
    expect(await ok(place, ["audit", "verify"])).toMatchObject({ intact: true });
    const { chains } = await ok(place, ["audit", "verify", committed]);
    expect(chains).toEqual([
      { transaction: committed, namespace: "", entries: expect.any(Number), brokenAt: null },
    ]);
  });

  it("says that something waits for a person when asked how it is", async () => {
    const report = await ok(place, ["doctor"], 6);
    expect(report).toMatchObject({ healthy: false, unresolved: 1 });
    expect(report.checks.map((check: Json) => check.name)).toEqual(
      expect.arrayContaining(["agenttx", "node", "addon", "free space", "store", "unresolved"]),
    );
  });

  it("prints completion scripts", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const done = await place.run(["completion", shell]);
      expect(done.exitCode).toBe(0);
      expect(done.stdout).toContain("unresolved");
    }
    expect((await place.run(["completion", "tcsh"])).exitCode).toBe(2);
  });
});

describe("when there is nothing", () => {
  it.each([
    ["list", ["list"]],
    ["show", ["show", "x"]],
    ["explain", ["explain", "x"]],
    ["unresolved", ["unresolved"]],
    ["recover", ["recover"]],
    ["resolve", ["resolve", "x/1", "--kind", "retry", "--actor", "a", "--note", "n"]],
    ["audit verify", ["audit", "verify"]],
    ["backup", ["backup", "copy"]],
  ])("%s says with 3 that there is no store, and makes none", async (_name, args) => {
    expect(await ok(missing, args, 3)).toMatchObject({
      type: "error",
      error: { code: "NOT_FOUND" },
    });
    expect(await ok(missing, ["list"], 3)).toMatchObject({ exitCode: 3 });
  });

  it("doctor is content without a store", async () => {
    expect(await ok(missing, ["doctor"])).toMatchObject({ healthy: true });
  });

  it("an empty store gives empty lists", async () => {
    const at = new Workplace();
    try {
      // Refused before anything begins, after the store was made.
      await at.run(["run", at.plan("p", [["kv.put", {}]]), "--resume", "none"]);
      expect(await ok(at, ["list"])).toEqual([]);
      expect(await ok(at, ["unresolved"])).toEqual([]);
      expect(await ok(at, ["recover"])).toMatchObject({ found: 0 });
      expect(await ok(at, ["audit", "verify"])).toMatchObject({ intact: true });
    } finally {
      at.remove();
    }
  });
});

describe("when it is asked for what is not there", () => {
  it.each([
    ["show", ["show", "none"], 3],
    ["explain", ["explain", "none"], 3],
    ["audit verify", ["audit", "verify", "none"], 3],
    ["resolve", ["resolve", "none/1", "--kind", "happened", "--actor", "a", "--note", "n"], 3],
    [
      "resolve with an unknown kind",
      ["resolve", "x/1", "--kind", "no", "--actor", "a", "--note", "n"],
      2,
    ],
    ["resolve without an actor", ["resolve", "x/1", "--kind", "retry", "--note", "n"], 2],
    ["list with a limit that is none", ["list", "--limit", "0"], 2],
    ["a command that does not exist", ["lsit"], 2],
  ])("%s fails with its code", async (_name, args, exitCode) => {
    const document = await ok(place, args, exitCode);
    expect(document).toMatchObject({
      type: "error",
      exitCode,
      error: { message: expect.any(String) },
    });
  });

  it("never shows a stack unless it is asked to", async () => {
    const quiet = await place.run(["show", "none"]);
    expect(quiet.stderr).toMatch(/^agenttx: NOT_FOUND: [^\n]+\n$/);
    expect((await place.run(["show", "none", "--verbose"])).stderr).toMatch(/\n\s+at /);
  });

  it("suggests the command that was meant", async () => {
    expect((await place.run(["lsit"])).stderr).toContain("Did you mean list?");
  });

  it("shows help and ends with 2 when called without a command", async () => {
    const done = await place.run([]);
    expect(done).toMatchObject({ exitCode: 2, stdout: "" });
    expect(done.stderr).toContain("Commands:");
  });
});

describe("repairs", () => {
  it("backs up into a directory that opens like the original, and into no other", async () => {
    const { path } = await ok(place, ["backup", "copy"]);
    expect((await ok(place, ["list", "--data", path])).map(({ id }: Json) => id)).toEqual([
      committed,
      frozen,
    ]);
    await ok(place, ["backup", "copy"], 2);
  });

  it("records a resolution once, repeats it harmlessly and refuses another", async () => {
    const by = ["--actor", "ann", "--note", "asked the carrier"];
    const args = ["resolve", effect, "--kind", "compensated-by-hand", ...by, ...place.tools];
    expect(await ok(place, args)).toMatchObject({ state: "resolved" });
    expect(await ok(place, args)).toMatchObject({ state: "resolved" });
    const other = ["resolve", effect, "--kind", "happened", ...by, ...place.tools];
    expect(await ok(place, other, 4)).toMatchObject({ error: { code: "RESOLUTION_CONFLICT" } });
    expect(await ok(place, ["unresolved"])).toEqual([]);
  });

  it("retries an undo once its owner has freed it", async () => {
    const stuck = await run(place, "again", [
      ["world.stuck", { value: "t" }],
      ["fail", { text: "something broke" }],
    ]);
    const args = ["resolve", stuck.unresolvedEffects[0], "--kind", "retry"];
    const by = ["--actor", "ann", "--note", "freed", ...place.tools, "--json"];
    expect((await place.run([...args, ...by])).exitCode).toBe(6);
    const freed = await place.run([...args, ...by], { UNSTUCK: "1" });
    expect(freed.exitCode, freed.stderr).toBe(0);
    expect(place.effects()).not.toContain("t");
  });
});
