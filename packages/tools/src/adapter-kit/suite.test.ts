// Goal: the suite passes a good adapter and fails every bad one, by the claim that it breaks; only
// what passed is certified. Method: a small registry as the other side, adapters with one fault each.

import type { ToolContext, UndoContext, UndoResult } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { kvTools } from "../kv.js";
import { tool } from "../tool.js";
import { certify, requireCertified } from "./certify.js";
import { isCertified } from "./mark.js";
import { adapterConformance, checkAdapter } from "./suite.js";
import type { AdapterCase } from "./world.js";

interface Entry {
  name: string;
  by: string;
}

type Faults = Partial<{
  readonly ignoresKeys: boolean;
  readonly overwrites: boolean;
  readonly undoNeedsEffect: boolean;
  readonly undoNeedsOutput: boolean;
  readonly undoForgets: boolean;
  readonly undoesOthers: boolean;
  readonly lies: "landed" | "absent" | "final";
  readonly lateEffect: boolean;
  readonly never: boolean;
  readonly verifies: boolean;
}>;

/** An adapter for a list of entries, right but for its faults. */
function adapter(faults: Faults = {}) {
  const entries = new Map<string, Entry>();
  const cancelled = new Set<string>();
  let gate: { arrive(): void; opened: Promise<void> } | null = null;
  let calls = 0;
  const made = tool({
    name: "list.add",
    schema: z.strictObject({ name: z.string() }),
    effect: "reversible",
    async execute({ name }, { idempotencyKey, signal }: ToolContext) {
      const held = gate;
      gate = null;
      held?.arrive();
      await held?.opened;
      if (faults.lateEffect !== true) signal.throwIfAborted();
      if (cancelled.has(idempotencyKey)) throw new Error("the key was cancelled");
      calls += 1;
      const key = faults.ignoresKeys === true ? `${idempotencyKey}-${calls}` : idempotencyKey;
      if (faults.never !== true) entries.set(key, { name, by: "us" });
      return { name };
    },
    compensate({ output }, { idempotencyKey: key }: UndoContext): UndoResult {
      if (faults.undoForgets === true) return { status: "undone" };
      if (faults.undoesOthers === true) {
        entries.clear();
        return { status: "undone" };
      }
      if (faults.undoNeedsOutput === true && output === null) return { status: "already-undone" };
      cancelled.add(key);
      const found = entries.get(key);
      if (found === undefined && faults.undoNeedsEffect === true) throw new Error("not there");
      if (found === undefined) return { status: "already-undone" };
      if (found.by !== "us" && faults.overwrites !== true) {
        return { status: "dirty", expected: "us", found: found.by };
      }
      entries.delete(key);
      return { status: "undone" };
    },
    lookup({ args, idempotencyKey: key }) {
      const landed = entries.has(key);
      if (faults.lies === "landed" || (landed && faults.lies !== "absent")) {
        return { status: "landed" as const, output: { name: args.name } };
      }
      // Called final without cancelling the key.
      if (faults.lies !== "final") cancelled.add(key);
      return { status: "absent" as const, final: true };
    },
    ...(faults.verifies === undefined ? {} : { verify: () => faults.verifies === true }),
  });
  const begin = (): AdapterCase => {
    entries.clear();
    return {
      args: { name: "a" },
      nextArgs: { name: "b" },
      snapshot: () => [...entries.values()].map((entry) => ({ ...entry })),
      change: () => {
        for (const entry of entries.values()) entry.by = "them";
      },
      hold: (when) => {
        if (when === "after") return null;
        let arrive: () => void = () => undefined;
        let release: () => void = () => undefined;
        const arrived = new Promise<void>((resolve) => {
          arrive = resolve;
        });
        const opened = new Promise<void>((resolve) => {
          release = resolve;
        });
        gate = { arrive, opened };
        return { arrived, release };
      },
    };
  };
  return { tool: made, world: { begin } };
}

const failedClaims = async (faults: Faults): Promise<string[]> => {
  const report = await checkAdapter(adapter(faults));
  expect(report.passed).toBe(report.claims.every(({ status }) => status !== "failed"));
  return report.claims.filter(({ status }) => status === "failed").map(({ title }) => title);
};

const good = adapter();
adapterConformance({ describe, it, expect }, good);

describe("checkAdapter", () => {
  it("passes a good adapter and says what it skipped", async () => {
    const report = await checkAdapter(adapter({ verifies: true }));
    expect(report).toMatchObject({ suite: 1, tool: "list.add", version: "1", passed: true });
    const skipped = report.claims.filter(({ status }) => status === "skipped");
    expect(skipped.map(({ problem }) => problem)).toEqual([
      "the other side keeps no versions",
      "the tool registers no undo",
      "the other side cannot be held after the effect",
    ]);
  });

  const bad: readonly (readonly [string, Faults, string])[] = [
    ["has no effect", { never: true }, "do, then undo: no trace is left"],
    ["forgets to undo", { undoForgets: true }, "do, then undo: no trace is left"],
    ["undoes more than its own", { undoesOthers: true }, "calls are undone newest first"],
    ["cannot undo twice", { undoNeedsEffect: true }, "undoing twice is harmless"],
    ["cannot undo nothing", { undoNeedsEffect: true }, "undoing what never happened is harmless"],
    [
      "needs its output",
      { undoNeedsOutput: true },
      "an undo without the output leaves no trace either",
    ],
    ["ignores keys", { ignoresKeys: true }, "a repeated key is one effect"],
    [
      "overwrites",
      { overwrites: true },
      "what somebody else changed since is dirty and stays untouched",
    ],
    ["says landed of nothing", { lies: "landed" }, "lookup: absent after it was undone"],
    [
      "says absent of something",
      { lies: "absent" },
      "lookup: landed after it was done, with its output",
    ],
    [
      "calls final what is not",
      { lies: "final" },
      "lookup: absent when it never happened, and final means final",
    ],
    [
      "lands late after a final absence",
      { lateEffect: true, lies: "final" },
      "given up before it took effect, a late effect is known or prevented",
    ],
    ["fails its own verification", { verifies: false }, "do, then undo: no trace is left"],
  ];
  for (const [title, faults, claim] of bad) {
    it(`fails an adapter that ${title}`, async () => {
      expect(await failedClaims(faults)).toContain(claim);
    });
  }

  it("answers with data that a file can keep", async () => {
    const report = await checkAdapter(adapter({ overwrites: true }));
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    const failed = report.claims.find(({ status }) => status === "failed");
    expect(failed?.problem).toBe("the undo answered undone about what somebody else changed");
  });
});

describe("certify", () => {
  it("marks a copy of the tool, and no other", async () => {
    const report = JSON.parse(JSON.stringify(await checkAdapter(good)));
    const certified = certify(good.tool, report);
    expect([isCertified(certified), isCertified(good.tool)]).toEqual([true, false]);
    const patient = { ...certified, retry: 2 };
    expect(isCertified(patient)).toBe(true);
    expect(isCertified({ ...certified, compensate: () => undefined })).toBe(false);
    expect(isCertified({ ...certified, version: "2" })).toBe(false);
  });

  it("refuses the report of another tool, version or suite, and one with failures", async () => {
    const report = await checkAdapter(good);
    const failing = await checkAdapter(adapter({ overwrites: true }));
    const refused = [
      { ...report, tool: "list.remove" },
      { ...report, version: "2" },
      { ...report, suite: 0 },
      { ...report, claims: report.claims.slice(1) },
      { ...report, passed: false },
      failing,
      { ...failing, passed: true },
    ];
    for (const one of refused) {
      expect(() => certify(good.tool, one)).toThrow(
        expect.objectContaining({ code: "TOOL_INVALID" }),
      );
    }
  });
});

describe("requireCertified", () => {
  it("refuses reversible tools that did not pass, by name, unless they are trusted", async () => {
    const uncertified = good.tool;
    const certified = certify(good.tool, await checkAdapter(good));
    expect(() => requireCertified([...kvTools(), uncertified])).toThrow(/list\.add/);
    expect(requireCertified([uncertified], { trust: ["list.add"] })).toEqual([uncertified]);
    expect(requireCertified([certified])).toEqual([certified]);
  });

  it("asks nothing of tools that only read, only stage, or only write state", () => {
    const schema = good.tool.schema;
    const execute = () => null;
    requireCertified([
      ...kvTools(),
      { name: "read", schema, effect: "read-only", execute },
      { name: "send", schema, effect: "irreversible", execute },
    ]);
  });

  it("takes a class that depends on the arguments for reversible when there is an undo", () => {
    const effect = () => "reversible";
    const tools = [{ name: "x", effect, execute: () => null, compensate: () => undefined }];
    expect(() => requireCertified(tools)).toThrow(/x/);
  });
});
