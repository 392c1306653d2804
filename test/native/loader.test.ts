// Goal: a missing addon is explained: platform, each tried path with its reason, the fix. And the
// explicit path wins over everything.

import { execFileSync } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { INTERFACE_VERSION as INTERFACE, platformTriple } from "@agenttx/native";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "./temporary-directory.js";

const lib = createRequire(import.meta.url).resolve("@agenttx/native");

/** Runs the loader of `directory/lib/index.js` and reports how it went. */
function load(directory: string, env: Readonly<Record<string, string>> = {}) {
  const script = `
    import { loadAddon } from ${JSON.stringify(join(directory, "lib/index.js"))};
    try { console.log(JSON.stringify({ loaded: loadAddon().from ?? "addon" })); }
    catch ({ name, code, message, details }) {
      console.log(JSON.stringify({ name, code, message, details }));
    }`;
  const { AGENTTX_NATIVE_PATH: _removed, ...rest } = process.env;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...rest, ...env },
    encoding: "utf8",
  });
  return JSON.parse(out);
}

/** A copy of the loader with nothing built beside it. */
async function bareCopy(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "lib"));
  await copyFile(lib, join(directory, "lib/index.js"));
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  return directory;
}

async function fakeAddon(file: string, interfaceVersion: number): Promise<void> {
  const addon = { interfaceVersion, from: file };
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, `module.exports = ${JSON.stringify(addon)};`);
}

describe("loadAddon", () => {
  it("explains what was tried, why it failed and how to fix it", async () => {
    const directory = await bareCopy();
    const failed = load(directory);
    const triple = platformTriple();
    expect(failed).toMatchObject({ name: "AgentTxError", code: "ADDON_NOT_FOUND" });
    expect(failed.details.platform).toBe(triple);
    expect(failed.details.tried).toEqual([
      `@agenttx/native-${triple}`,
      join(directory, "build/Release/agenttx_native.node"),
    ]);
    expect(failed.message).toContain(triple);
    expect(failed.message).toContain(process.version);
    expect(failed.message).toMatch(/Cannot find module/);
    expect(failed.message).toContain(`npm install @agenttx/native-${triple}`);
  });

  it("names the C library on Linux", () => {
    const libc = process.platform === "linux" ? /-(gnu|musl)$/ : /^[a-z0-9]+-[a-z0-9]+$/;
    expect(platformTriple()).toMatch(libc);
    expect(platformTriple().startsWith(`${process.platform}-${process.arch}`)).toBe(true);
  });

  it("takes the explicit path and tries nothing else when it fails", async () => {
    const directory = await bareCopy();
    const explicit = join(directory, "elsewhere/addon.cjs");
    await fakeAddon(explicit, INTERFACE);
    expect(load(directory, { AGENTTX_NATIVE_PATH: explicit })).toEqual({ loaded: explicit });
    const wrong = join(directory, "nothing.node");
    const failed = load(directory, { AGENTTX_NATIVE_PATH: wrong });
    expect(failed.details.tried).toEqual([wrong]);
    expect(failed.message).toContain("unset AGENTTX_NATIVE_PATH");
  });

  it("prefers the platform package to a local build and skips one of another version", async () => {
    const directory = await bareCopy();
    const name = `@agenttx/native-${platformTriple()}`;
    const installed = join(directory, "node_modules", name);
    await fakeAddon(join(installed, "index.js"), INTERFACE);
    expect(load(directory)).toEqual({ loaded: join(installed, "index.js") });
    await fakeAddon(join(installed, "index.js"), 99);
    const failed = load(directory);
    expect(failed.message).toContain(
      `its interface version is 99, this package needs ${INTERFACE}`,
    );
  });
});
