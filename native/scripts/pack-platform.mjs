// Makes the two folders that are published for this platform:
//   <out>/<triple>/  @agenttx/native-<triple>: the stripped addon, its licences, no script
//   <out>/native/    @agenttx/native with every platform folder of <out> as an exact-version
//                    optional dependency; the workspace's own package.json never names them, so an
//                    install in the workspace does not look for them
//   node scripts/pack-platform.mjs [--out <folder>] [--local]
// Without --local the addon is built for release (libstdc++ linked in); with it build/Release is
// taken as it is.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { platformTriple } from "../lib/index.js";
import { requireTools } from "./prerequisites.mjs";
import { ensureRocksdb } from "./rocksdb-cache.mjs";
import { findRocksdbSource } from "./rocksdb-source.mjs";
import { BuildError, runCommand } from "./run-command.mjs";

const nativeRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);
const ADDON = "agenttx.node";
const ROCKSDB_LICENSES = ["COPYING", "LICENSE.Apache", "LICENSE.leveldb"];

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** An empty folder. */
function freshFolder(path) {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

/** Builds the addon in a tree of its own and returns its path. */
async function buildForRelease(source) {
  const tools = requireTools();
  const rocksdb = await ensureRocksdb(join(nativeRoot, "cmake/rocksdb"), source, tools);
  const tree = join(nativeRoot, "build/package");
  mkdirSync(tree, { recursive: true });
  const cmakeJs = join(dirname(require.resolve("cmake-js/package.json")), "bin/cmake-js");
  const definitions = {
    AGENTTX_STATIC_LIBSTDCXX: "ON",
    AGENTTX_ROCKSDB_DIR: rocksdb,
    AGENTTX_NODE_ADDON_API_DIR: dirname(require.resolve("node-addon-api/package.json")),
    CMAKE_CXX_COMPILER: tools.compiler,
  };
  const options = Object.entries(definitions).map(([name, value]) => `--CD${name}=${value}`);
  await runCommand(
    process.execPath,
    [
      ...[cmakeJs, "configure", "--directory", nativeRoot, "--out", tree],
      ...["--generator", tools.generator, ...options],
    ],
    { cwd: nativeRoot },
  );
  await runCommand("cmake", ["--build", tree, "--target", "agenttx_native", "-j", "2"]);
  return join(tree, "Release/agenttx_native.node");
}

function localBuild() {
  const path = join(nativeRoot, "build/Release/agenttx_native.node");
  if (existsSync(path)) return path;
  throw new BuildError(`${path} is missing; run: node native/scripts/build.mjs`);
}

/** Refuses an addon that would need a C++ runtime of the user's machine. */
function requireSelfContained(addon) {
  if (process.platform !== "linux") return;
  const needed = execFileSync("objdump", ["-p", addon], { encoding: "utf8" });
  const runtime = /NEEDED\s+(libstdc\+\+\S*|libgcc_s\S*)/.exec(needed);
  if (runtime) throw new BuildError(`${addon} still needs ${runtime[1]}; it must be linked in`);
}

function packAddon(built, folder, triple, source) {
  const [platform, arch, libc] = triple.split("-");
  const { version, license, engines } = readJson(join(nativeRoot, "package.json"));
  const addon = join(folder, ADDON);
  copyFileSync(built, addon);
  if (platform === "linux") execFileSync("strip", ["--strip-unneeded", addon]);
  if (platform === "darwin") execFileSync("strip", ["-x", addon]);
  const licenses = join(folder, "licenses/rocksdb");
  mkdirSync(licenses, { recursive: true });
  for (const name of ROCKSDB_LICENSES) copyFileSync(join(source.tree, name), join(licenses, name));
  copyFileSync(join(nativeRoot, "../LICENSE"), join(folder, "LICENSE"));
  copyFileSync(join(nativeRoot, "../NOTICE"), join(folder, "NOTICE"));
  writeFileSync(
    join(folder, "README.md"),
    `# @agenttx/native-${triple}\n\nThe addon of [@agenttx/native](https://www.npmjs.com/package/@agenttx/native) for ${triple}, with RocksDB ${source.version} inside. Installed by it; not used directly.\n`,
  );
  writeJson(join(folder, "package.json"), {
    name: `@agenttx/native-${triple}`,
    version,
    description: `The addon of @agenttx/native for ${triple}`,
    license,
    engines,
    os: [platform],
    cpu: [arch],
    ...(libc && { libc: [libc === "gnu" ? "glibc" : libc] }),
    main: ADDON,
    files: [ADDON, "NOTICE", "licenses"],
  });
}

/** Names and versions of the platform packages beside `folder`. */
function platformPackages(out) {
  const folders = readdirSync(out).filter((name) => name !== "native" && !name.startsWith("."));
  return Object.fromEntries(
    folders.sort().map((name) => {
      const manifest = readJson(join(out, name, "package.json"));
      return [manifest.name, manifest.version];
    }),
  );
}

function packLoader(folder, out) {
  const {
    scripts: _scripts,
    devDependencies: _devDependencies,
    binary: _binary,
    ...manifest
  } = readJson(join(nativeRoot, "package.json"));
  cpSync(join(nativeRoot, "lib"), join(folder, "lib"), { recursive: true });
  copyFileSync(join(nativeRoot, "README.md"), join(folder, "README.md"));
  copyFileSync(join(nativeRoot, "../LICENSE"), join(folder, "LICENSE"));
  writeJson(join(folder, "package.json"), {
    ...manifest,
    optionalDependencies: platformPackages(out),
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: join(nativeRoot, "npm") },
      local: { type: "boolean", default: false },
    },
  });
  const out = resolve(values.out);
  const triple = platformTriple();
  const source = findRocksdbSource(nativeRoot);
  const built = values.local ? localBuild() : await buildForRelease(source);
  if (!values.local) requireSelfContained(built);
  const addonFolder = freshFolder(join(out, triple));
  packAddon(built, addonFolder, triple, source);
  const loaderFolder = freshFolder(join(out, "native"));
  packLoader(loaderFolder, out);
  process.stdout.write(`${addonFolder}\n${loaderFolder}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`pack-platform: ${error.message}\n`);
  process.exit(1);
}
