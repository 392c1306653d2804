// Goal: a tools module is found by path or as a package, and a useless one says why.

import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTools } from "./tools-module.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tools-"));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write("array.mjs", "export const tools = [{ name: 'a' }];");
  await write("function.mjs", "export const tools = async () => [{ name: 'b' }];");
  await write("none.mjs", "export const other = [];");
  await write("broken.mjs", "export const tools = [;");
  const installed = join(folder, "node_modules", "my-tools");
  await mkdir(installed, { recursive: true });
  await writeFile(join(installed, "index.js"), "exports.tools = [{ name: 'c' }];");
});

describe("loadTools", () => {
  it.each([
    ["a path", "./array.mjs", "a"],
    ["a path without a dot", "array.mjs", "a"],
    ["a function", "./function.mjs", "b"],
    ["an installed package", "my-tools", "c"],
  ])("takes %s", async (_what, specifier, name) => {
    expect((await loadTools(specifier, folder)).map((tool) => tool.name)).toEqual([name]);
  });

  it.each([
    ["a module that is not there", "./no.mjs", "NOT_FOUND"],
    ["a module without tools", "./none.mjs", "TOOL_INVALID"],
    ["a module that does not parse", "./broken.mjs", "TOOL_INVALID"],
  ])("refuses %s", async (_what, specifier, code) => {
    await expect(loadTools(specifier, folder)).rejects.toMatchObject({ code });
  });
});
