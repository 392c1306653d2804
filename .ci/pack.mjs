#!/usr/bin/env node
// Packs everything that is published, the addon of this machine included, as tarballs that plain
// npm installs in a project elsewhere: `npm run pack [-- <folder>]` (default: tarballs/), then `npm install <folder>/*`.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = resolve(process.argv[2] ?? join(root, "tarballs"));

/** Runs a command quietly; ends with its output and one line when it fails. */
function run(title, command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  process.stderr.write(`pack: ${title} failed${error ? `: ${error.message}` : "; see above"}\n`);
  process.exit(1);
}

function isPublished(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).private !== true;
  } catch {
    return false; // a folder without a package
  }
}

mkdirSync(target, { recursive: true });
for (const file of readdirSync(target)) {
  if (/^agenttx-.*\.tgz$/.test(file)) rmSync(join(target, file)); // of an earlier state
}
const pnpm = join(root, "node_modules", ".bin", "pnpm");
for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  if (isPublished(folder)) run(name, pnpm, ["pack", "--pack-destination", target], folder);
}
const native = mkdtempSync(join(tmpdir(), "agenttx-pack-"));
try {
  const script = join(root, "native", "scripts", "pack-platform.mjs");
  run("the addon", process.execPath, [script, "--local", "--out", native], root);
  for (const name of readdirSync(native)) {
    run(name, "npm", ["pack", "--pack-destination", target], join(native, name));
  }
} finally {
  rmSync(native, { recursive: true, force: true });
}
const count = readdirSync(target).filter((file) => file.endsWith(".tgz")).length;
process.stdout.write(`pack: ${count} tarballs; in your project: npm install ${target}/*.tgz\n`);
