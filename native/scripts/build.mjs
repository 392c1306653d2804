// Builds the addon (build/Release/agenttx_native.node) and the core's tests. Incremental; the first
// run on a machine compiles RocksDB and keeps it in the user's cache.
//   node scripts/build.mjs [--print-rocksdb] [--torture] [--sanitize address|thread]
// --torture builds build/Release/agenttx_torture and nothing else (pnpm torture).
// --sanitize builds the core's tests, the torture program and the addon under build/<sanitizer>
// (pnpm torture sanitizers). Thread needs a RocksDB of its own: locks inside it order our threads.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { acquireLock } from "./build-lock.mjs";
import { requireTools } from "./prerequisites.mjs";
import { Progress } from "./progress.mjs";
import { ensureRocksdb } from "./rocksdb-cache.mjs";
import { findRocksdbSource } from "./rocksdb-source.mjs";
import { BuildError, runCommand } from "./run-command.mjs";

const nativeRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const sanitizer = sanitizerAsked();
const buildRoot = join(nativeRoot, "build", sanitizer);
const require = createRequire(import.meta.url);

/** What is built besides the addon, or in its place; everything when empty. */
const TARGETS = {
  address: ["agenttx_core_test", "agenttx_torture", "agenttx_native"],
  // Without the addon: Node is not instrumented, so nothing could be said about it.
  thread: ["agenttx_core_test", "agenttx_torture"],
  "": process.argv.includes("--torture") ? ["agenttx_torture"] : [],
};

/** The empty text for a plain build. */
function sanitizerAsked() {
  const at = process.argv.indexOf("--sanitize");
  if (at < 0) return "";
  const asked = process.argv[at + 1];
  if (asked === "address" || asked === "thread") return asked;
  process.stderr.write("native build: --sanitize takes address or thread\n");
  process.exit(1);
}

function nodeAddonApiFolder() {
  try {
    return dirname(require.resolve("node-addon-api/package.json"));
  } catch {
    throw new BuildError("node-addon-api is not installed; run pnpm install in the repository");
  }
}

/** cmake-js finds Node's headers in node-api-headers; nothing is downloaded. */
async function configure(tools, definitions) {
  const cmakeJs = join(dirname(require.resolve("cmake-js/package.json")), "bin/cmake-js");
  const options = Object.entries(definitions).map(([name, value]) => `--CD${name}=${value}`);
  await runCommand(
    process.execPath,
    [
      cmakeJs,
      "configure",
      "--directory",
      nativeRoot,
      "--out",
      buildRoot,
      "--generator",
      tools.generator,
      ...options,
    ],
    { cwd: nativeRoot },
  );
}

/** Configures only when something that configuration depends on has changed. */
async function configureWhenNeeded(tools, definitions) {
  const stampPath = join(buildRoot, "configured.json");
  const wanted = JSON.stringify([tools, definitions, process.env.CXXFLAGS ?? ""]);
  const isConfigured =
    existsSync(join(buildRoot, "CMakeCache.txt")) &&
    existsSync(stampPath) &&
    readFileSync(stampPath, "utf8") === wanted;
  if (isConfigured) return;
  await configure(tools, definitions);
  writeFileSync(stampPath, wanted);
}

async function compile(onStart) {
  const progress = new Progress(sanitizer === "" ? "native" : `native, ${sanitizer} sanitizer`);
  let isQuiet = true;
  try {
    const targets = TARGETS[sanitizer].flatMap((target) => ["--target", target]);
    const build = ["--build", buildRoot, "--config", "Release", "-j", "2", ...targets];
    await runCommand("cmake", build, {
      env: {
        NINJA_STATUS: "[%f/%t] ",
        // With ccache, a second checkout of the same sources compiles in seconds.
        CCACHE_BASEDIR: join(nativeRoot, ".."),
        CCACHE_NOHASHDIR: "1",
      },
      onStart,
      onLine: (line) => {
        if (line.startsWith("[") && !/^\[\d+\/\d+\] (Re-checking|Re-running)/.test(line)) {
          isQuiet = false;
        }
        progress.line(line);
      },
    });
  } finally {
    progress.end(!isQuiet);
  }
}

async function main() {
  const tools = requireTools();
  const source = findRocksdbSource(nativeRoot);
  const flags = sanitizer === "thread" ? ["-fsanitize=thread"] : [];
  const rocksdb = await ensureRocksdb(join(nativeRoot, "cmake/rocksdb"), source, tools, flags);
  if (process.argv.includes("--print-rocksdb")) {
    process.stdout.write(`${rocksdb}\n`);
    return;
  }
  mkdirSync(buildRoot, { recursive: true });
  const lock = await acquireLock(join(buildRoot, ".lock"), (pid) =>
    process.stderr.write(`native: waiting for the build of process ${pid}\n`),
  );
  try {
    await configureWhenNeeded(tools, {
      AGENTTX_ROCKSDB_DIR: rocksdb,
      AGENTTX_NODE_ADDON_API_DIR: nodeAddonApiFolder(),
      CMAKE_CXX_COMPILER: tools.compiler,
      ...(sanitizer === "" ? {} : { AGENTTX_SANITIZE: sanitizer }),
    });
    await compile(lock.covers);
  } finally {
    lock.release();
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`native build failed:\n${error.message}\n`);
  process.exit(1);
}
