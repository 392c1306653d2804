// Checks the format of the C++ code with clang-format; `--write` formats it. Without clang-format a
// local run only says how to get it; CI must have it.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const FOLDERS = ["native/src", "native/include", "native/test"];

function cppFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(cc|h)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

const probe = spawnSync("clang-format", ["--version"], { encoding: "utf8" });
if (probe.error || probe.status !== 0) {
  process.stderr.write(
    "format-cpp: clang-format is not installed, C++ is not checked; sudo apt-get install -y clang-format\n",
  );
  process.exit(process.env.CI === "true" ? 1 : 0);
}

const mode = process.argv.includes("--write") ? ["-i"] : ["--dry-run", "-Werror"];
const files = FOLDERS.flatMap(cppFiles);
const run = spawnSync("clang-format", [...mode, ...files], { cwd: root, stdio: "inherit" });
if (run.status !== 0) {
  process.stderr.write("format-cpp: run node .ci/format-cpp.mjs --write\n");
  process.exit(1);
}
