// Owns where the RocksDB source comes from and what identifies it: the npm package that the
// lockfile pins, or another tree named by AGENTTX_ROCKSDB_SOURCE.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { BuildError } from "./run-command.mjs";

const PACKAGE = "@nxtedition/rocksdb";

function versionOf(tree) {
  const header = readFileSync(join(tree, "include/rocksdb/version.h"), "utf8");
  const part = (name) => new RegExp(`#define ROCKSDB_${name} (\\d+)`).exec(header)?.[1] ?? "?";
  return `${part("MAJOR")}.${part("MINOR")}.${part("PATCH")}`;
}

/** Names and sizes of all files and the version: cheap, and any edit worth a rebuild changes it. */
function fingerprint(tree) {
  const hash = createHash("sha256");
  const walk = (folder) => {
    for (const entry of readdirSync(join(tree, folder), { withFileTypes: true })) {
      if (entry.name === ".git" || entry.name === "build") continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) hash.update(`${path}\0${statSync(join(tree, path)).size}\n`);
    }
  };
  walk("");
  hash.update(readFileSync(join(tree, "include/rocksdb/version.h")));
  return `tree-${hash.digest("hex")}`;
}

function lockedIntegrity(lockfile, version) {
  const text = readFileSync(lockfile, "utf8");
  const at = text.indexOf(`'${PACKAGE}@${version}':\n    resolution:`);
  const match = /integrity: (sha512-[A-Za-z0-9+/=]+)/.exec(at < 0 ? "" : text.slice(at, at + 400));
  if (!match) {
    throw new BuildError(
      `${lockfile} has no integrity for ${PACKAGE}@${version}; run pnpm install`,
    );
  }
  return match[1];
}

/** `{ tree, version, identity }`: equal identities mean equal sources. */
export function findRocksdbSource(nativeRoot) {
  const named = process.env.AGENTTX_ROCKSDB_SOURCE;
  if (named) {
    const tree = resolve(named);
    if (!existsSync(join(tree, "src.mk"))) {
      throw new BuildError(`AGENTTX_ROCKSDB_SOURCE=${named} is no RocksDB source tree (no src.mk)`);
    }
    return { tree, version: versionOf(tree), identity: fingerprint(tree) };
  }
  let manifest;
  try {
    const require = createRequire(join(nativeRoot, "package.json"));
    manifest = require.resolve(`${PACKAGE}/package.json`);
  } catch {
    throw new BuildError(`${PACKAGE} is not installed; run pnpm install in the repository`);
  }
  const tree = join(dirname(manifest), "deps/rocksdb/rocksdb");
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const identity = lockedIntegrity(join(nativeRoot, "../pnpm-lock.yaml"), version);
  return { tree, version: versionOf(tree), identity };
}
