// Goal: file tools keep the contract of adapters, for new files, replaced ones, large ones and
// deletions. Method: the adapter suite on a real directory.

import { mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@agenttx/model";
import { afterAll, describe, expect, it } from "vitest";
import { adapterConformance } from "../adapter-kit/suite.js";
import type { AdapterCase } from "../adapter-kit/world.js";
import { fsTools } from "./tools.js";

const root = mkdtempSync(join(tmpdir(), "agenttx-fs-kit-"));
const tools = fsTools({ root });
afterAll(() => rmSync(root, { recursive: true, force: true }));

let cases = 0;

/** Names, modes and contents below a directory. */
async function treeOf(directory: string): Promise<unknown> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map(async (path) => {
        const { mode } = await stat(path);
        const content = await readFile(path).catch(() => "directory");
        return { path, mode, content: content.toString("base64") };
      }),
  );
}

function begin(tool: "write" | "delete", path: string, before: Buffer | null) {
  return async (): Promise<AdapterCase> => {
    cases += 1;
    const own = `case-${cases}`;
    const file = join(root, own, path);
    await mkdir(join(root, own));
    if (before !== null) {
      await writeFile(file, before);
      await chmod(file, 0o640);
    }
    const name = `${own}/${path}`;
    const write = (content: string): JsonValue => ({ path: name, content });
    const theirs = async (): Promise<void> => {
      await mkdir(join(file, ".."), { recursive: true });
      await writeFile(file, "theirs");
    };
    const versions = {
      changeAndChangeBack: async (): Promise<void> => {
        const mine = await readFile(file);
        await writeFile(file, "theirs");
        await writeFile(file, mine);
      },
    };
    return {
      args: tool === "write" ? write("mine") : { path: name },
      nextArgs: tool === "write" ? write("next") : { path: `${own}/other` },
      snapshot: () => treeOf(join(root, own)),
      change: theirs,
      ...(tool === "write" ? versions : {}),
    };
  };
}

const WRITES = {
  "a new file in new directories": begin("write", "made/deep/file", null),
  "a small file that is replaced": begin("write", "file", Buffer.from([0, 255, 10])),
  "a large file that is replaced": begin("write", "file", Buffer.alloc(1_100_000, 7)),
};
for (const [title, world] of Object.entries(WRITES)) {
  describe(title, () => {
    adapterConformance({ describe, it, expect }, { tool: tools[0], world: { begin: world } });
  });
}

describe("a file that is deleted", () => {
  const deletion = begin("delete", "file", Buffer.from("content"));
  const withOther = async (): Promise<AdapterCase> => {
    const one = await deletion();
    const { path } = one.nextArgs as { path: string };
    await writeFile(join(root, path), "other");
    return one;
  };
  adapterConformance({ describe, it, expect }, { tool: tools[2], world: { begin: withOther } });
});
