// Owns the sanitizer runs (A1, A2, A4, A5): builds of the core and the addon that watch memory (ASan,
// UBSan, LSan) and threads (TSan, with a RocksDB of its own), and what is run in them. The first run
// on a machine compiles RocksDB for TSan, about ten minutes on two cores; progress is shown.
//
// A report is a violation, and so is a test that fails in such a build, and a planted leak that is not
// seen.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { leaksIn, reportIn } from "../sanitizers/judge.js";
import { type Suite, type SuiteRun, weaknesses } from "../suite.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BUILD = join(ROOT, "native/build");
const TSAN_SUPPRESSIONS = fileURLToPath(new URL("../sanitizers/tsan.supp", import.meta.url));
const LEAK = fileURLToPath(new URL("../sanitizers/leak.c", import.meta.url));
/** Sanitized code is five to twenty times slower. */
const PART_MS_MAX = 45 * 60_000;
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const WORKERS_PER_STORM = "30";

interface Part {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How often the command repeats, at least. */
  readonly times?: number;
}

interface Ran {
  readonly code: number | null;
  readonly text: string;
}

function run(part: Part): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn("nice", [part.command, ...part.args], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PART_MS_MAX,
      env: { ...process.env, ...part.env },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (more: string) => {
        text = (text + more).slice(-1_000_000);
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}

async function build(sanitizer: "address" | "thread", tell: SuiteRun["tell"]): Promise<string> {
  tell(`building with the ${sanitizer} sanitizer`);
  const script = join(ROOT, "native/scripts/build.mjs");
  const child = spawn(process.execPath, [script, "--sanitize", sanitizer], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`the core does not build with the ${sanitizer} sanitizer`);
  return join(BUILD, sanitizer, "Release");
}

/** The runtime must be in the process before Node, which is not instrumented. */
function runtimeOf(library: string): string {
  return execFileSync("g++", [`-print-file-name=${library}`], { encoding: "utf8" }).trim();
}

function addressParts(folder: string, seconds: number, seed: number): readonly Part[] {
  const slice = (suite: string): Part => ({
    name: `address: torture ${suite}`,
    command: join(folder, "agenttx_torture"),
    args: [suite, "--seed", `${seed}`, "--seconds", `${Math.ceil(seconds)}`],
    // Its children end without cleanup: what they still hold is no leak.
    env: { ASAN_OPTIONS: `${ASAN}:detect_leaks=0` },
  });
  const underNode = {
    LD_PRELOAD: `${runtimeOf("libasan.so")} ${runtimeOf("libubsan.so")}`,
    AGENTTX_NATIVE_PATH: join(folder, "agenttx_native.node"),
    ASAN_OPTIONS: `${ASAN}:detect_leaks=1`,
    // Leaks of Node itself must not end a test; ours are looked for in the reports.
    LSAN_OPTIONS: "exitcode=0",
  };
  const vitest = (name: string, files: readonly string[]): Part => ({
    name: `address: ${name}`,
    command: process.execPath,
    args: [VITEST, "run", "--testTimeout=600000", ...files],
    env: underNode,
  });
  return [
    {
      name: "address: tests of the core",
      command: join(folder, "agenttx_core_test"),
      args: [],
      env: { AGENTTX_STORM_SECONDS: `${Math.ceil(seconds)}` },
    },
    slice("faults"),
    slice("power"),
    slice("damage"),
    slice("fuzz"),
    vitest("conformance of the store", ["packages/storage"]),
    vitest("hostile arguments", ["test/native/boundary.test.ts"]),
    vitest("open and close, exit by every route", [
      "test/native/lifecycle.test.ts",
      "test/native/exit.test.ts",
    ]),
    {
      name: "address: workers ended in the middle",
      command: process.execPath,
      args: [
        join(ROOT, "test/native/children/worker-storm.mjs"),
        "PATH",
        WORKERS_PER_STORM,
        "false",
      ],
      env: underNode,
      times: Math.max(1, Math.round(seconds / 60)),
    },
    {
      name: "address: workers whose answers nobody takes",
      command: process.execPath,
      args: [
        join(ROOT, "test/native/children/answers-nobody-takes.mjs"),
        "PATH",
        WORKERS_PER_STORM,
      ],
      env: underNode,
      times: Math.max(1, Math.round(seconds / 60)),
    },
  ];
}

const ASAN = "abort_on_error=0:halt_on_error=1:exitcode=99:strict_string_checks=1";

function threadParts(folder: string, seconds: number): readonly Part[] {
  const options = `exitcode=99:second_deadlock_stack=1:history_size=5:suppressions=${TSAN_SUPPRESSIONS}`;
  const env = { TSAN_OPTIONS: options };
  const core = { command: join(folder, "agenttx_core_test"), env };
  return [
    {
      ...core,
      name: "thread: storm of every verb from eight threads",
      args: ["EveryVerb"],
      env: { ...env, AGENTTX_STORM_SECONDS: `${Math.ceil(seconds)}` },
    },
    { ...core, name: "thread: tests of the core", args: [] },
  ];
}

/** The first report, or the end of what a failed part printed. */
function problemOf({ code, text }: Ran): string | null {
  const report = reportIn(text);
  if (report !== null) return report;
  return code === 0 ? null : `ended with ${code}: ${text.slice(-1_000)}`;
}

/** True when a leak in a function of an addon is seen, through Node. */
async function seesPlantedLeak(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "agenttx-sanitizer-"));
  try {
    const native = createRequire(join(ROOT, "native/package.json"));
    const headers = native("node-api-headers") as { readonly include_dir: string };
    const addon = join(folder, "leak.node");
    const flags = ["-shared", "-fPIC", "-fsanitize=address", "-DNODE_GYP_MODULE_NAME=leak"];
    execFileSync("gcc", [...flags, `-I${headers.include_dir}`, LEAK, "-o", addon]);
    const { text } = await run({
      name: "a planted leak",
      command: process.execPath,
      args: ["-e", `require(${JSON.stringify(addon)}).leak()`],
      env: { LD_PRELOAD: runtimeOf("libasan.so"), ASAN_OPTIONS: "detect_leaks=1" },
    });
    return leaksIn(text).length === 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a part with a folder of its own where its arguments say PATH. */
async function runPart(part: Part): Promise<string | null> {
  const reports = await mkdtemp(join(tmpdir(), "agenttx-sanitizer-"));
  try {
    const args = part.args.map((arg) => (arg === "PATH" ? join(reports, "store") : arg));
    // Reports of grandchildren (test runners swallow their stderr) go to files beside.
    const log = join(reports, "report");
    const asan = `${part.env?.ASAN_OPTIONS ?? `${ASAN}:detect_leaks=1`}:log_path=${log}`;
    const ran = await run({ ...part, args, env: { ...part.env, ASAN_OPTIONS: asan } });
    for (const name of await readdir(reports)) {
      if (!name.startsWith("report")) continue;
      const text = await readFile(join(reports, name), "utf8");
      const problem = problemOf({ code: 0, text });
      if (problem !== null) return problem;
    }
    return problemOf(ran);
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

export const sanitizers: Suite = {
  name: "sanitizers",
  about: "core and addon under ASan, UBSan, LSan and TSan (A1-A5); builds first, minutes",
  async run({ seed, seconds, tell }) {
    const only = process.env.AGENTTX_SANITIZER;
    const violations: string[] = [];
    const figures: Record<string, number> = { parts: 0, clean: 0, workers: 0 };
    let cycles = 0;
    for (const sanitizer of ["thread", "address"] as const) {
      if (only !== undefined && only !== sanitizer) continue;
      const folder = await build(sanitizer, tell);
      if (sanitizer === "address" && !(await seesPlantedLeak())) {
        violations.push("a planted leak of an addon is not seen");
      }
      const share = seconds / 4;
      const parts =
        sanitizer === "thread" ? threadParts(folder, share) : addressParts(folder, share, seed);
      for (const part of parts) {
        let problem: string | null = null;
        for (let time = 0; time < (part.times ?? 1) && problem === null; time += 1) {
          problem = await runPart(part);
          cycles += 1;
          if (part.name.includes("workers")) {
            figures.workers = (figures.workers ?? 0) + Number(WORKERS_PER_STORM);
          }
        }
        tell(`${part.name}: ${problem === null ? "clean" : "REPORT"}`);
        figures.parts = (figures.parts ?? 0) + 1;
        if (problem === null) figures.clean = (figures.clean ?? 0) + 1;
        else violations.push(`${part.name}: ${problem}`);
      }
    }
    const isWhole = only === undefined;
    return {
      cycles,
      violations,
      figures,
      weak: weaknesses({ "every part has run": !isWhole || (figures.parts ?? 0) >= 10 }),
      cursor: null,
    };
  },
};
