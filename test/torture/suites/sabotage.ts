// Owns the planted defects (T1): each patch of sabotage/ is put into a copy of the tree, what it
// touches is built again, and the test that it names has to fail. The same tests pass on the copy
// as it is, or nothing is proven.
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Defect, readDefect } from "../sabotage/defect.js";
import { type Ran, runIn } from "../sabotage/process.js";
import type { Suite, SuiteRun } from "../suite.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PATCHES = fileURLToPath(new URL("../sabotage/", import.meta.url));
const TEST_MS_MAX = 300_000;
/** The first build of the core on a busy machine takes many minutes. */
const BUILD_MS_MAX = 1_800_000;
const TORTURE_SECONDS = "20";
/** Names of patches to be tried, as a pattern; all of them by default. */
const ONLY = new RegExp(process.env.AGENTTX_SABOTAGE ?? "");

/** Large, made anew in the copy, or the same for both. */
const NOT_COPIED = [
  "node_modules",
  ".git",
  "native/build",
  "bench/results",
  "test/torture/results",
];

class Copy {
  readonly root: string;
  readonly #tell: SuiteRun["tell"];

  private constructor(root: string, tell: SuiteRun["tell"]) {
    this.root = root;
    this.#tell = tell;
  }

  /** Without defects in the core, the addon that is there will do. */
  static async make(tell: SuiteRun["tell"], needsCore: boolean): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), "agenttx-sabotage-"));
    const skipped = new Set(NOT_COPIED.map((path) => join(ROOT, path)));
    await cp(ROOT, root, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !skipped.has(source),
    });
    await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
    const copy = new Copy(root, tell);
    if (needsCore) await copy.build(["native/"]);
    else {
      const addon = "native/build/Release/agenttx_native.node";
      await cp(join(ROOT, addon), join(root, addon));
    }
    return copy;
  }

  /** Builds the packages that hold these files, and the core with its tests when it is touched. */
  async build(files: readonly string[]): Promise<void> {
    const packages = new Set(
      files.filter((file) => file.startsWith("packages/")).map((file) => file.split("/")[1] ?? ""),
    );
    for (const name of packages) {
      const folder = join(this.root, "packages", name);
      const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
        scripts: { build: string };
      };
      const build = `PATH="$PWD/node_modules/.bin:$PATH"; ${scripts.build}`;
      await this.#must("sh", ["-c", build], folder);
    }
    if (!files.some((file) => file.startsWith("native/"))) return;
    for (const more of [[], ["--torture"]]) {
      await this.#must(process.execPath, ["native/scripts/build.mjs", ...more], this.root);
    }
  }

  async apply(defect: Defect, reverse: boolean): Promise<void> {
    const options = reverse ? ["--reverse"] : [];
    await this.#must("git", ["apply", "-C1", "--recount", ...options, defect.path], this.root);
  }

  async test(words: readonly string[]): Promise<Ran> {
    const [kind, ...rest] = words;
    if (kind === "vitest") {
      const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
      return runIn(this.root, process.execPath, [vitest, "run", "--bail=1", ...rest], TEST_MS_MAX);
    }
    const program = join(this.root, "native/build/Release");
    if (kind === "core") {
      return runIn(this.root, join(program, "agenttx_core_test"), rest, TEST_MS_MAX);
    }
    const [suite = "", script, from] = rest;
    const args = ["test/torture/run.mjs", suite, "--seconds", TORTURE_SECONDS, "--seed", "1"];
    return runIn(this.root, process.execPath, args, TEST_MS_MAX, {
      AGENTTX_TORTURE_PROGRAM: join(program, "agenttx_torture"),
      ...(script === undefined ? {} : { AGENTTX_TORTURE_SCRIPT: script }),
      ...(from === undefined ? {} : { AGENTTX_TORTURE_FROM: from }),
    });
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  async #must(command: string, args: readonly string[], folder: string): Promise<void> {
    const { code, text } = await runIn(folder, command, args, BUILD_MS_MAX);
    if (code === 0) return;
    this.#tell(text.slice(-2_000));
    throw new Error(`${basename(command)} ${args.join(" ")} ended with ${code}`);
  }
}

async function readDefects(): Promise<readonly Defect[]> {
  const names = (await readdir(PATCHES)).filter((name) => name.endsWith(".patch")).sort();
  const defects = names.filter((name) => ONLY.test(name)).map((name) => join(PATCHES, name));
  return Promise.all(defects.map(readDefect));
}

/** Null: caught. Otherwise what went wrong. */
async function plant(copy: Copy, defect: Defect): Promise<string | null> {
  try {
    await copy.apply(defect, false);
  } catch (error) {
    return `${defect.name} cannot be planted: ${String(error)}`;
  }
  try {
    await copy.build(defect.files);
    const { code, text } = await copy.test(defect.caughtBy);
    await writeFile(join(copy.root, `${defect.name}.log`), text);
    const test = defect.caughtBy.join(" ");
    if (code === 0) return `${defect.name} (${defect.what}) passes ${test}`;
    // A test that does not end says nothing about what it is there to find.
    return code < 0 ? `${defect.name}: ${test} did not end by itself` : null;
  } catch (error) {
    return `${defect.name} cannot be tried: ${String(error)}`;
  } finally {
    await copy.apply(defect, true);
    // What was built with the defect must not meet the next one.
    await copy.build(defect.files);
  }
}

export const sabotage: Suite = {
  name: "sabotage",
  about: "planted defects, each to be caught by the test it names (T1)",
  isByName: true,
  async run({ tell }) {
    const defects = await readDefects();
    tell(`copying and building the tree for ${defects.length} defects`);
    const needsCore = defects.some(({ files }) => files.some((file) => file.startsWith("native/")));
    const copy = await Copy.make(tell, needsCore);
    const violations: string[] = [];
    /** Tests that fail anyway prove nothing about a defect. */
    const broken = new Set<string>();
    const caught: Record<string, number> = {};
    try {
      const tests = new Map(defects.map(({ caughtBy }) => [caughtBy.join(" "), caughtBy]));
      for (const [name, words] of tests) {
        const { code, text } = await copy.test(words);
        tell(`without a defect: ${name} ${code === 0 ? "passes" : "FAILS"}`);
        if (code === 0) continue;
        broken.add(name);
        violations.push(`${name} fails without a defect: ${text.slice(-500)}`);
      }
      for (const defect of defects) {
        if (broken.has(defect.caughtBy.join(" "))) continue;
        const problem = await plant(copy, defect);
        tell(`${defect.name}: ${problem === null ? "caught" : "NOT CAUGHT"}`);
        if (problem === null) caught[`${defect.name} by ${defect.caughtBy.join(" ")}`] = 1;
        else violations.push(problem);
      }
    } finally {
      await copy.remove();
    }
    return {
      cycles: defects.length,
      violations,
      figures: { planted: defects.length, caught: Object.keys(caught).length, ...caught },
      weak: [],
      cursor: null,
    };
  },
};
