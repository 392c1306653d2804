// Owns what a result says about where it was measured: machine, versions, revision.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { loadBenchAddon } from "../drivers/raw-rocksdb.mjs";

export function machine() {
  const models = cpus();
  return {
    cpu: models[0]?.model.trim() ?? "unknown",
    cores: models.length,
    usableCores: availableParallelism(),
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    kernel: release(),
    platform: `${process.platform}-${process.arch}`,
    filesystem: filesystemOf(tmpdir()),
    loadAtStart: loadavg().map((load) => Math.round(load * 100) / 100),
  };
}

export function versions() {
  // Dependencies are pinned to exact versions.
  const own = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return {
    agenttx: own.version,
    node: process.versions.node,
    v8: process.versions.v8,
    rocksdb: loadBenchAddon().rocksdbVersion,
    "better-sqlite3": own.dependencies["better-sqlite3"],
    lmdb: own.dependencies.lmdb,
    tinybench: own.dependencies.tinybench,
  };
}

/** Commit of the checkout; `+changes` when files of it were changed. */
export function revision() {
  try {
    const head = git("rev-parse", "HEAD").trim();
    const changed = git("status", "--porcelain", "--untracked-files=no").trim() !== "";
    return changed ? `${head}+changes` : head;
  } catch {
    return "unknown";
  }
}

function git(...args) {
  return execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" });
}

function filesystemOf(path) {
  try {
    const text = execFileSync("df", ["--output=fstype", path], { encoding: "utf8" });
    return text.trim().split("\n").at(-1) ?? "unknown";
  } catch {
    return "unknown";
  }
}
