// Owns the compiled RocksDB archive, kept outside the checkout so that a clean clone on a warm
// machine takes seconds.
// I1 An entry appears by one rename, complete or not at all.
// I2 An interrupted build goes on where it stopped: its folder is kept under the same key.
// I3 One builder per key, also when one was killed and its compiler goes on (build-lock.mjs).
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { arch, availableParallelism, homedir, platform, totalmem } from "node:os";
import { join } from "node:path";
import { acquireLock } from "./build-lock.mjs";
import { Progress } from "./progress.mjs";
import { runCommand } from "./run-command.mjs";

// One batch of 24 files takes about 1.2 GiB at its peak.
const BYTES_PER_JOB = 1.5 * 2 ** 30;

function jobCount() {
  const asked = Number(process.env.AGENTTX_BUILD_JOBS);
  if (Number.isInteger(asked) && asked > 0) return asked;
  return Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / BYTES_PER_JOB)));
}

function cacheRoot() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "agenttx", "rocksdb");
}

/** Comments of the recipe do not count: only what changes the archive does. */
function recipeText(recipeRoot) {
  return readFileSync(join(recipeRoot, "CMakeLists.txt"), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .join("\n");
}

function cacheKey(recipeRoot, source, tools, flags) {
  const parts = [
    source.identity,
    tools.compilerVersion,
    recipeText(recipeRoot),
    flags,
    platform(),
    arch(),
  ];
  const digest = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 16);
  return `${source.version}-${digest}`;
}

async function compile({ recipeRoot, source, tools, flags, partial, onStart }) {
  const progress = new Progress(`RocksDB ${source.version}`);
  try {
    const definitions = [
      "-DCMAKE_BUILD_TYPE=None",
      `-DCMAKE_CXX_COMPILER=${tools.compiler}`,
      `-DROCKSDB_SOURCE=${source.tree}`,
    ];
    await runCommand(
      "cmake",
      ["-S", recipeRoot, "-B", partial, "-G", tools.generator, ...definitions],
      { env: { CXXFLAGS: flags } },
    );
    await runCommand("cmake", ["--build", partial, "-j", String(jobCount())], {
      env: { NINJA_STATUS: "[%f/%t] " },
      onStart,
      onLine: (line) => progress.line(line),
    });
    progress.end(true);
  } catch (error) {
    progress.end(false);
    throw error;
  }
}

function publish(source, partial, entry) {
  const ready = `${entry}.ready-${process.pid}`;
  rmSync(ready, { recursive: true, force: true });
  mkdirSync(join(ready, "lib"), { recursive: true });
  copyFileSync(join(partial, "librocksdb.a"), join(ready, "lib/librocksdb.a"));
  cpSync(join(source.tree, "include"), join(ready, "include"), { recursive: true });
  for (const name of ["LICENSE.Apache", "LICENSE.leveldb"]) {
    if (existsSync(join(source.tree, name))) {
      copyFileSync(join(source.tree, name), join(ready, name));
    }
  }
  writeFileSync(join(ready, "stamp.json"), `${JSON.stringify({ version: source.version })}\n`);
  renameSync(ready, entry);
  rmSync(partial, { recursive: true, force: true });
}

/**
 * Folder with `lib/librocksdb.a` and `include/`; compiles it when no entry fits. `moreFlags` are for
 * builds that look into RocksDB itself, and have an entry of their own.
 */
export async function ensureRocksdb(recipeRoot, source, tools, moreFlags = []) {
  const root = cacheRoot();
  const flags = [process.env.CXXFLAGS ?? "", ...moreFlags].join(" ").trim();
  const entry = join(root, cacheKey(recipeRoot, source, tools, flags));
  if (existsSync(join(entry, "stamp.json"))) return entry;
  mkdirSync(root, { recursive: true });
  const lock = await acquireLock(`${entry}.lock`, (pid) =>
    process.stderr.write(`RocksDB ${source.version}: waiting for the build of process ${pid}\n`),
  );
  try {
    if (existsSync(join(entry, "stamp.json"))) return entry;
    process.stderr.write(
      `RocksDB ${source.version}: compiling once for this machine (about 5 minutes on 2 cores)\n`,
    );
    const partial = `${entry}.partial`;
    await compile({ recipeRoot, source, tools, flags, partial, onStart: lock.covers });
    publish(source, partial, entry);
    return entry;
  } finally {
    lock.release();
  }
}
