// Goal: whatever the path and whoever swaps links, nothing outside the root is read or changed
// (F1). Method: real directories; a second process swaps a directory for a link to the outside.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, toolContext, undoContext } from "../testing/context.js";
import { comparedOpener, directoryOpener } from "./directory.js";
import { fsToolsOver } from "./tools.js";

const LIMITS = { bytesMax: 1024 * 1024, mode: 0o644 };
const WAYS = {
  "held descriptors": directoryOpener,
  "compared paths": async (root: string) => comparedOpener(realpathSync(root)),
} as const;

let base = "";
let root = "";
let outside = "";

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "agenttx-fs-"));
  root = join(base, "data");
  outside = join(base, "data-evil");
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, "secret"), "secret");
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function messageOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "no error",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

async function outsideIsUntouched(): Promise<void> {
  expect(await readdir(outside)).toEqual(["secret"]);
  expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
  expect((await readdir(base)).sort()).toEqual(["data", "data-evil"]);
}

for (const [way, openerOf] of Object.entries(WAYS)) {
  describe(`confinement by ${way}`, () => {
    const tools = () => {
      const [write, read, remove] = fsToolsOver({ opener: () => openerOf(root), ...LIMITS });
      return {
        write: (path: string) => call(write, { path, content: "x" }, toolContext()),
        read: (path: string) => call(read, { path }, toolContext()),
        remove: (path: string) => call(remove, { path }, toolContext()),
      };
    };
    const refusedByAll = async (path: string, text: string): Promise<void> => {
      const { write, read, remove } = tools();
      for (const attempt of [write, read, remove]) {
        const message = await messageOf(attempt(path));
        expect(message).toContain(text);
        expect(message).not.toContain(base);
      }
      await outsideIsUntouched();
    };

    it("refuses paths that are absolute, climb, or are not well-formed", async () => {
      await mkdir(join(root, "a"));
      await refusedByAll("/etc/hostname", "the path is absolute");
      await refusedByAll("C:/x", "the path is absolute");
      await refusedByAll("../data-evil/secret", "leaves the root");
      await refusedByAll("a/../../data-evil/secret", "leaves the root");
      await refusedByAll("a/..", "leaves the root");
      await refusedByAll("a//b", "empty name");
      await refusedByAll("./a", "empty name");
      await refusedByAll("a/", "empty name");
      await refusedByAll("a\0b", "NUL");
      await refusedByAll("..\\data-evil\\secret", "backslash");
      await refusedByAll("\ud800", "ill-formed");
    });

    it("refuses the names it keeps for itself, in any case", async () => {
      await refusedByAll(".agenttx-undo/x", "reserved");
      await refusedByAll(".AgentTX-undo/x", "reserved");
      await refusedByAll("a/.agenttx-tmp-x", "reserved");
    });

    it("refuses a link as the file, to the outside and dangling", async () => {
      await symlink(join(outside, "secret"), join(root, "leaf"));
      await symlink(join(outside, "new"), join(root, "dangling"));
      await symlink("inside", join(root, "relative"));
      for (const path of ["leaf", "dangling", "relative"]) await refusedByAll(path, "ELOOP");
    });

    it("refuses a link as a directory on the way", async () => {
      await symlink(outside, join(root, "dir"));
      await symlink(join(base, "nowhere"), join(root, "dangling"));
      const { write, read, remove } = tools();
      expect(await messageOf(write("dir/new"))).toMatch(/^(ELOOP|ENOTDIR)/);
      expect(await messageOf(read("dir/secret"))).toMatch(/^(ELOOP|ENOTDIR)/);
      expect(await messageOf(remove("dir/secret"))).toMatch(/^(ELOOP|ENOTDIR)/);
      expect(await messageOf(write("dangling/new"))).toMatch(/^(ELOOP|ENOTDIR)/);
      expect(await messageOf(write("dir/deeper/new"))).toMatch(/^(ELOOP|ENOTDIR)/);
      await outsideIsUntouched();
    });

    it("refuses a file that has a second name", async () => {
      await link(join(outside, "secret"), join(root, "hard"));
      await refusedByAll("hard", "EMLINK");
      expect((await stat(join(outside, "secret"))).nlink).toBe(2);
    });

    it("refuses what is no regular file, without opening it", async () => {
      execFileSync("mkfifo", [join(root, "fifo")]);
      await mkdir(join(root, "dir"));
      await refusedByAll("fifo", "not a regular file");
      await refusedByAll("dir", "EISDIR");
    });

    it("refuses a file as a directory on the way", async () => {
      await writeFile(join(root, "file"), "x");
      await refusedByAll("file/x", "ENOTDIR");
    });

    it("guards the undo alike", async () => {
      const [write] = fsToolsOver({ opener: () => openerOf(root), ...LIMITS });
      const context = toolContext();
      await call(write, { path: "dir/file", content: "x" }, context);
      const [undo] = context.registered;
      await rm(join(root, "dir"), { recursive: true });
      await symlink(outside, join(root, "dir"));
      await writeFile(join(outside, "file"), "x");
      const attempt = write.undo?.restore?.(undo?.args ?? null, undoContext());
      expect(await messageOf(Promise.resolve(attempt))).toMatch(/^(ELOOP|ENOTDIR)/);
      expect(await readFile(join(outside, "file"), "utf8")).toBe("x");
      const forged = { ...(undo?.args as object), path: "../data-evil/secret" };
      const climbing = Promise.resolve().then(() => write.undo?.restore?.(forged, undoContext()));
      expect(await messageOf(climbing)).toContain("leaves the root");
      expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
    });
  });
}

describe.runIf(process.platform === "linux")("a race of links", () => {
  /** Swaps `root/dir` between a directory and a link to the outside, as fast as it can. */
  function swapper(): ChildProcess {
    const code = `
      const fs = require("node:fs");
      const [dir, aside, outside] = process.argv.slice(1);
      for (;;) {
        try { fs.renameSync(dir, aside); fs.symlinkSync(outside, dir); } catch {}
        try { fs.unlinkSync(dir); } catch {}
        try { fs.renameSync(aside, dir); } catch {}
      }`;
    const paths = [join(root, "dir"), join(root, "aside"), outside];
    return spawn(process.execPath, ["-e", code, ...paths], { stdio: "ignore" });
  }

  it("never reaches the outside in two seconds of writes, reads, deletes and undos", async () => {
    await mkdir(join(root, "dir"));
    const [write, read, remove] = fsToolsOver({ opener: () => directoryOpener(root), ...LIMITS });
    const child = swapper();
    const counts = { through: 0, refused: 0 };
    try {
      const deadline = performance.now() + 2_000;
      for (let round = 0; performance.now() < deadline; round += 1) {
        const context = toolContext({ key: `round-${round}` });
        const attempts = [
          () => call(write, { path: "dir/file", content: `${round}` }, context),
          () => call(write, { path: "dir/secret", content: "overwritten" }, context),
          async () => {
            const answer = await call(read, { path: "dir/secret" }, context);
            expect(answer).not.toMatchObject({ content: "secret" });
          },
          () => call(remove, { path: "dir/secret" }, context),
          () => call(write, { path: "dir/new/deep", content: "x" }, context),
        ];
        for (const attempt of attempts) {
          const message = await messageOf(attempt());
          counts[message === "no error" ? "through" : "refused"] += 1;
        }
        for (const { args } of context.registered.reverse()) {
          const undo = Promise.resolve().then(() => write.undo?.restore?.(args, undoContext()));
          await messageOf(undo);
        }
      }
    } finally {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    await outsideIsUntouched();
    expect((await lstat(join(outside, "secret"))).nlink).toBe(1);
    // The race was one: calls met both the directory and the link.
    expect(counts.through).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  });
});
