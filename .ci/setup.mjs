#!/usr/bin/env node
// Sets the workspace up from nothing but Node and a C++ compiler: prerequisites, dependencies,
// addon, packages. Each part is skipped when it is up to date. Uses only what Node brings along,
// because nothing is installed yet when it starts.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".agenttx-setup");
const began = Date.now();

/** Ends the set-up with one clear line and no stack. */
function fail(line) {
  process.stderr.write(`setup: ${line}\n`);
  process.exit(1);
}

function run(title, command, args, env = {}) {
  process.stdout.write(`setup: ${title}\n`);
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", ...env },
  });
  if (result.error !== undefined) fail(`${title}: ${result.error.message}`);
  if (result.signal !== null)
    fail(`${title}: stopped by ${result.signal}; run it again, it goes on`);
  if (result.status !== 0) fail(`${title}: failed with exit code ${result.status}; see above`);
}

function found(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}

function checkPrerequisites() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 17)) {
    fail(`Node 20.17 or newer is needed, this is ${process.versions.node}.`);
  }
  const missing = [];
  if (!found("cmake")) missing.push("cmake");
  const named = process.env.CXX;
  if (named && !found(named)) fail(`CXX=${named} cannot be started. Correct it, or unset it.`);
  if (!named && !["c++", "g++", "clang++"].some(found)) missing.push("g++");
  if (!found("ninja") && !found("make")) missing.push("ninja-build");
  if (!found("python3")) missing.push("python3");
  if (missing.length > 0) {
    fail(`missing ${missing.join(", ")}. On Debian: apt-get install -y ${missing.join(" ")}`);
  }
}

/** What decides whether dependencies must be installed again. */
function dependencyKey() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.update(process.version).digest("hex");
}

/** Headers that came with this Node: an addon that has no prebuilt form is built without a download. */
function ownHeaders() {
  const prefix = dirname(dirname(process.execPath));
  const isSet = process.env.npm_config_nodedir !== undefined;
  const has = existsSync(join(prefix, "include", "node", "node.h"));
  return isSet || !has ? {} : { npm_config_nodedir: prefix };
}

function installDependencies() {
  const key = dependencyKey();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === key) return;
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const install = ["install", "--frozen-lockfile", "--reporter=append-only"];
  const args = ["--yes", manifest.packageManager, ...install];
  run("installing dependencies", "npx", args, ownHeaders());
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, key);
}

checkPrerequisites();
installDependencies();
run("building the addon", process.execPath, ["native/scripts/build.mjs"]);
run(
  "building the packages",
  join(root, "node_modules", ".bin", "turbo"),
  ["run", "build", "--filter=./packages/*", "--output-logs=errors-only", "--log-order=grouped"],
  { PATH: `${join(root, "node_modules", ".bin")}:${process.env.PATH}` },
);
process.stdout.write(`setup: ready in ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
