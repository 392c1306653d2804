// Goal: each suite of `pnpm torture` runs, holds and repeats a seed. Method: a few seconds of each,
// in a process of its own as people start it. The long runs are in docs/guarantees.md.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkHistory, type Recorded } from "./isolation/history.js";
import { readDefect } from "./sabotage/defect.js";

const COMMAND = fileURLToPath(new URL("./run.mjs", import.meta.url));
const PROGRAM = fileURLToPath(
  new URL("../../native/build/Release/agenttx_torture", import.meta.url),
);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SEED = 20_260;
const TIMEOUT_MS = 120_000;

interface Line {
  readonly suite: string;
  readonly seed: number;
  readonly cycles: number;
  readonly violations: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

function torture(...args: readonly string[]): Promise<{ code: number; line: Line }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...args, "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    let told = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      told += part;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      const last = text.trimEnd().split("\n").at(-1) ?? "";
      if (!last.startsWith("{")) reject(new Error(`no result line: ${told}`));
      else resolve({ code: code ?? -1, line: JSON.parse(last) as Line });
    });
  });
}

describe("a slice of the suite", () => {
  it.each(["model", "faces", "isolation", "histories", "points"])(
    "%s holds",
    async (suite) => {
      const { code, line } = await torture(suite, "--seconds", "4", "--seed", `${SEED}`);
      expect(line.violations).toEqual([]);
      expect(line).toMatchObject({ suite, seed: SEED });
      expect(line.cycles).toBeGreaterThan(0);
      expect(code).toBe(0);
    },
    TIMEOUT_MS,
  );

  // Built by `node native/scripts/build.mjs --torture`, as .ci/run does; a plain set-up leaves it out.
  it.skipIf(!existsSync(PROGRAM)).each(["faults", "power", "damage", "memory", "fuzz"])(
    "%s holds",
    async (suite) => {
      const { code, line } = await torture(suite, "--seconds", "5", "--seed", `${SEED}`);
      expect(line.violations).toEqual([]);
      expect(line.cycles).toBeGreaterThan(0);
      expect(code).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("planted defects", () => {
  const folder = fileURLToPath(new URL("./sabotage/", import.meta.url));
  const patches = readdirSync(folder).filter((name) => name.endsWith(".patch"));

  // Trying them takes an hour; that they can be planted is seen in a second.
  it.each(patches)("%s fits the tree", async (name) => {
    const defect = await readDefect(`${folder}${name}`);
    expect(defect.caughtBy.length).toBeGreaterThan(1);
    const args = ["apply", "--check", "-C1", "--recount", defect.path];
    const { status, stderr } = spawnSync("git", args, { encoding: "utf8", cwd: ROOT });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });

  it("are at least 30", () => expect(patches.length).toBeGreaterThanOrEqual(30));
});

describe("the check of histories", () => {
  const commit = (id: string, version: bigint, changes: Partial<Recorded>): Recorded => ({
    id,
    serializable: false,
    reads: [],
    writes: new Map(),
    version,
    commitBegan: 10 * Number(version),
    commitEnded: 10 * Number(version) + 1,
    ...changes,
  });
  const first = commit("first", 1n, { writes: new Map([["k", "1"]]) });
  const second = commit("second", 2n, { writes: new Map([["k", "2"]]) });

  it("finds a lost update", () => {
    const reads = [{ key: "k", value: "1", began: 12, ended: 13 }];
    const lost = commit("lost", 3n, { reads, writes: new Map([["k", "3"]]) });
    const { violations } = checkHistory([first, second, lost], new Map([["k", "3"]]));
    expect(violations).toEqual(["lost wrote k, which had changed since it read"]);
  });

  it("finds a read of what nobody committed, a stale read, and a version used twice", () => {
    const dirty = commit("dirty", 3n, { reads: [{ key: "k", value: "9", began: 31, ended: 32 }] });
    const stale = commit("stale", 4n, { reads: [{ key: "k", value: "1", began: 31, ended: 32 }] });
    const twice = commit("twice", 4n, {});
    const all = [first, second, dirty, stale, twice];
    const { violations } = checkHistory(all, new Map([["k", "2"]]));
    expect(violations).toContain("dirty read k=9, which nobody committed");
    expect(violations).toContain("stale read a k older than an answered commit");
    expect(violations.some((text) => text.includes("both have version 4"))).toBe(true);
  });

  it("finds an end that its commits do not explain", () => {
    const { violations } = checkHistory([first, second], new Map([["k", "1"]]));
    expect(violations).toEqual(["k is 1, its newest commit wrote 2"]);
  });
});
