// Owns the check that this machine can compile the addon. One line per missing thing, what to
// install, no stack.
import { spawnSync } from "node:child_process";

/** First line that `command` prints, or null when it cannot be started. */
function firstLine(command, args) {
  const run = spawnSync(command, args, { encoding: "utf8" });
  if (run.error || run.status !== 0) return null;
  return run.stdout.split("\n")[0].trim();
}

function versionAtLeast(text, major, minor) {
  const match = /(\d+)\.(\d+)/.exec(text ?? "");
  if (!match) return false;
  const [have, haveMinor] = [Number(match[1]), Number(match[2])];
  return have > major || (have === major && haveMinor >= minor);
}

function compilesCxx20(compiler) {
  const source =
    "#include <span>\n#include <version>\nint main() { std::span<int> s; return s.size(); }\n";
  const run = spawnSync(compiler, ["-std=c++20", "-fsyntax-only", "-x", "c++", "-"], {
    input: source,
    encoding: "utf8",
  });
  return !run.error && run.status === 0;
}

/**
 * Looks for everything that compiling needs. Returns the tools, or exits with 1 after one line per
 * missing tool.
 */
export function requireTools() {
  const missing = [];
  const cmake = firstLine("cmake", ["--version"]);
  if (cmake === null) missing.push("cmake is not installed (3.20 or newer is needed)");
  else if (!versionAtLeast(cmake, 3, 20)) missing.push(`${cmake} is too old (3.20 is needed)`);

  const candidates = process.env.CXX ? [process.env.CXX] : ["c++", "g++", "clang++"];
  const starts = (name) => firstLine(name, ["--version"]) !== null;
  const compiler = candidates.find(starts) ?? candidates[0];
  const compilerVersion = firstLine(compiler, ["--version"]);
  if (compilerVersion === null) missing.push(`no C++ compiler: ${compiler} cannot be started`);
  else if (!compilesCxx20(compiler)) missing.push(`${compilerVersion} does not compile C++20`);

  const ninja = firstLine("ninja", ["--version"]);
  const make = ninja === null ? firstLine("make", ["--version"]) : null;
  if (ninja === null && make === null) missing.push("neither ninja nor make is installed");

  if (missing.length > 0) {
    for (const line of missing) process.stderr.write(`native build: ${line}\n`);
    process.stderr.write(
      "native build: on Debian or Ubuntu: sudo apt-get install -y g++ cmake ninja-build\n",
    );
    process.exit(1);
  }
  return {
    compiler,
    compilerVersion,
    generator: ninja === null ? "Unix Makefiles" : "Ninja",
  };
}
