#!/usr/bin/env node
// The checks that run no test: format, lint, C++ format, types, import rules. All of them run,
// then the exit code says whether one failed.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = join(root, "node_modules", ".bin");
const wire = join(root, "packages", "wire");
const checks = [
  ["format and lint", join(bin, "biome"), ["ci", "."]],
  ["C++ format", process.execPath, [".ci/format-cpp.mjs"]],
  ["types", join(bin, "tsc"), ["-p", "tsconfig.tests.json"]],
  ["protocol style", join(wire, "node_modules", ".bin", "buf"), ["lint", "proto"], wire],
  [
    "protocol compatibility",
    join(wire, "node_modules", ".bin", "buf"),
    ["breaking", "proto", "--against", "baseline/v1.binpb"],
    wire,
  ],
  [
    "import rules",
    join(bin, "depcruise"),
    ["--config", ".dependency-cruiser.cjs", "packages", "native/lib"],
  ],
];

const failed = [];
for (const [title, command, args, cwd = root] of checks) {
  process.stdout.write(`check: ${title}\n`);
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, TURBO_TELEMETRY_DISABLED: "1" },
  });
  if (status !== 0) failed.push(title);
}
process.stdout.write(
  failed.length === 0 ? "check: all good\n" : `check: failed: ${failed.join(", ")}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
