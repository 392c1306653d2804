// Goal: file tools write whole files, undo them, and never overwrite what someone else did since.
// Method: a real directory for each claim.

import { mkdtempSync, readdirSync } from "node:fs";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UndoResult } from "@agenttx/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, type RecordingContext, toolContext, undoContext } from "../testing/context.js";
import { fsTools } from "./tools.js";

let root = "";
let tools: ReturnType<typeof fsTools>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "agenttx-fs-"));
  tools = fsTools({ root });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const at = (path: string): string => join(root, path);
const text = (path: string): Promise<string> => readFile(at(path), "utf8");

async function write(path: string, content: string, context = toolContext()) {
  await call(tools[0], { path, content }, context);
  return context;
}

async function remove(path: string, context = toolContext()) {
  await call(tools[2], { path }, context);
  return context;
}

/** Undoes what the call registered, as the engine does. */
async function undo(context: RecordingContext): Promise<UndoResult> {
  const [registered] = context.registered;
  const result = await tools[0].undo?.restore?.(registered?.args ?? null, undoContext());
  if (result === undefined) throw new Error("the undo gave no result");
  return result;
}

describe("fs.write", () => {
  it("writes text and bytes and says what it wrote", async () => {
    expect(await call(tools[0], { path: "a", content: "é" }, toolContext())).toEqual({
      path: "a",
      bytes: 2,
      sha256: "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c",
    });
    const args = { path: "b", content: "AP8=", encoding: "base64" };
    await call(tools[0], args, toolContext());
    expect([...(await readFile(at("b")))]).toEqual([0, 255]);
  });

  it("makes the directories on the way", async () => {
    await write("x/y/z", "deep");
    expect(await text("x/y/z")).toBe("deep");
  });

  it("keeps the mode of a file that it replaces", async () => {
    await writeFile(at("tool.sh"), "old");
    await chmod(at("tool.sh"), 0o750);
    await write("tool.sh", "new");
    expect((await stat(at("tool.sh"))).mode & 0o7777).toBe(0o750);
  });

  it("leaves no temporary file behind", async () => {
    await write("a", "1");
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("registers its undo before it changes anything, directories included", async () => {
    let seen: string[] | null = null;
    const context = toolContext({
      onRegister: async () => {
        seen = await readdir(root);
      },
    });
    await write("dir/a", "new", context);
    expect(seen).toEqual([]);
    expect(context.registered.map(({ action }) => action)).toEqual(["restore"]);
  });

  it("changes nothing when its undo cannot be registered", async () => {
    await writeFile(at("a"), "old");
    const context = toolContext({ onRegister: () => Promise.reject(new Error("STALE_ATTEMPT")) });
    await expect(write("a", "new", context)).rejects.toThrow("STALE_ATTEMPT");
    expect(await text("a")).toBe("old");
  });

  it("changes nothing once its signal is aborted", async () => {
    await writeFile(at("a"), "old");
    const controller = new AbortController();
    const onRegister = async () => controller.abort(new Error("deadline"));
    const context = toolContext({ signal: controller.signal, onRegister });
    await expect(write("a", "new", context)).rejects.toThrow("deadline");
    expect(await text("a")).toBe("old");
    expect(await undo(context)).toEqual({ status: "already-undone" });
  });

  it("does not replace a file that changed while the undo was being registered", async () => {
    await writeFile(at("a"), "old");
    const context = toolContext({ onRegister: () => writeFile(at("a"), "theirs") });
    await expect(write("a", "mine", context)).rejects.toThrow("EBUSY");
    expect(await text("a")).toBe("theirs");
    expect((await readdir(root)).length).toBe(1);
  });

  it("refuses content and files above the limit", async () => {
    const [small] = fsTools({ root, bytesMax: 4 });
    await writeFile(at("a"), "12345");
    const attempt = (args: object) => call(small, args, toolContext());
    await expect(attempt({ path: "b", content: "12345" })).rejects.toThrow("EFBIG");
    await expect(attempt({ path: "a", content: "1" })).rejects.toThrow("EFBIG");
    expect(await text("a")).toBe("12345");
  });

  it("names the argument it does not know", async () => {
    const args = { path: "a", content: "", mode: 1 };
    await expect(call(tools[0], args, toolContext())).rejects.toThrow(/mode/);
  });
});

describe("undo of fs.write", () => {
  it("removes the file and the directories it made, and only those", async () => {
    await mkdir(at("kept"));
    const context = await write("kept/made/deep/file", "x");
    expect(await undo(context)).toEqual({ status: "undone" });
    expect(await readdir(at("kept"))).toEqual([]);
    expect(readdirSync(root)).toEqual(["kept"]);
  });

  it("leaves a directory in which someone has put something", async () => {
    const context = await write("made/deep/file", "x");
    await writeFile(at("made/theirs"), "y");
    expect(await undo(context)).toEqual({ status: "undone" });
    expect(await readdir(at("made"))).toEqual(["theirs"]);
  });

  it("brings content and mode back", async () => {
    await writeFile(at("a"), "old");
    await chmod(at("a"), 0o640);
    const context = await write("a", "new");
    expect(await undo(context)).toEqual({ status: "undone" });
    expect(await text("a")).toBe("old");
    expect((await stat(at("a"))).mode & 0o7777).toBe(0o640);
  });

  it("brings back every byte of binary content", async () => {
    const before = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    await writeFile(at("a"), before);
    await undo(await write("a", "new"));
    expect(Buffer.compare(await readFile(at("a")), before)).toBe(0);
  });

  it("keeps a large file as a copy in the root, durable before the write, gone after", async () => {
    const before = Buffer.alloc(3 * 1024 * 1024, 7);
    await writeFile(at("big"), before);
    let copies: string[] = [];
    const context = toolContext({
      key: "transaction/1:2",
      onRegister: async () => {
        copies = await readdir(at(".agenttx-undo"));
      },
    });
    await write("big", "small", context);
    expect(copies.length).toBe(1);
    expect(JSON.stringify(context.registered).length).toBeLessThan(1_000);
    expect(await undo(context)).toEqual({ status: "undone" });
    expect(Buffer.compare(await readFile(at("big")), before)).toBe(0);
    expect(await readdir(at(".agenttx-undo"))).toEqual([]);
    expect(await undo(context)).toEqual({ status: "already-undone" });
  });

  it("refuses to bring back a copy that was damaged", async () => {
    await writeFile(at("big"), Buffer.alloc(3 * 1024 * 1024, 7));
    const context = await write("big", "small");
    const [copy = ""] = await readdir(at(".agenttx-undo"));
    await writeFile(at(`.agenttx-undo/${copy}`), "damaged");
    await expect(undo(context)).rejects.toThrow("missing or damaged");
    expect(await text("big")).toBe("small");
  });

  it("says so when it is asked a second time", async () => {
    await writeFile(at("a"), "old");
    const context = await write("a", "new");
    await undo(context);
    expect(await undo(context)).toEqual({ status: "already-undone" });
    expect(await text("a")).toBe("old");
  });

  it("is content when the write never happened", async () => {
    const context = await write("dir/a", "new");
    await rm(at("dir"), { recursive: true });
    expect(await undo(context)).toEqual({ status: "already-undone" });
  });

  it("removes what a crash before the rename left", async () => {
    await writeFile(at("a"), "old");
    const context = await write("a", "new");
    const [registered] = context.registered;
    const { temporary } = (registered?.args ?? {}) as { temporary: string };
    await writeFile(at("a"), "old");
    await chmod(at("a"), 0o644);
    await writeFile(at(temporary), "half");
    expect(await undo(context)).toEqual({ status: "already-undone" });
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("removes directories that a crash before the rename left", async () => {
    const context = await write("made/deep/file", "x");
    await unlink(at("made/deep/file"));
    expect(await undo(context)).toEqual({ status: "already-undone" });
    expect(readdirSync(root)).toEqual([]);
  });

  it("never overwrites what someone else has written since", async () => {
    await writeFile(at("a"), "old");
    const context = await write("a", "mine");
    await writeFile(at("a"), "theirs");
    const result = await undo(context);
    expect(result.status).toBe("dirty");
    expect(JSON.stringify(result)).toContain("file of 6 bytes");
    expect(await text("a")).toBe("theirs");
  });

  it("knows its file from one that was changed and changed back, and gives the time back", async () => {
    await writeFile(at("a"), "old");
    const before = await stat(at("a"));
    const first = await write("a", "mine", toolContext({ key: "one" }));
    const second = await write("a", "other", toolContext({ key: "two" }));
    expect(await undo(second)).toEqual({ status: "undone" });
    await writeFile(at("a"), "theirs");
    await writeFile(at("a"), "mine");
    expect((await undo(first)).status).toBe("dirty");
    const left = (first.registered[0]?.args ?? {}) as { after: { modifiedUs: number } };
    await utimes(at("a"), 0, left.after.modifiedUs / 1_000_000);
    expect(await undo(first)).toEqual({ status: "undone" });
    expect(Math.abs((await stat(at("a"))).mtimeMs - before.mtimeMs)).toBeLessThan(0.01);
  });

  it("compares contents alone on a file system with a coarse clock, and for older records", async () => {
    const context = await write("a", "mine");
    const [registered] = context.registered;
    const args = (registered?.args ?? {}) as { after: { modifiedUs?: number } };
    const seconds = Math.floor((args.after.modifiedUs ?? 0) / 1_000_000);
    await utimes(at("a"), 0, seconds - (seconds % 2));
    expect(await undo(context)).toEqual({ status: "undone" });
    await writeFile(at("a"), "mine");
    delete args.after.modifiedUs;
    expect(await undo(context)).toEqual({ status: "undone" });
  });

  it("takes a changed mode for a change", async () => {
    const context = await write("a", "mine");
    await chmod(at("a"), 0o600);
    expect((await undo(context)).status).toBe("dirty");
    expect(await text("a")).toBe("mine");
  });

  it("takes a deleted file, a link or a directory in its place for a change", async () => {
    await writeFile(at("a"), "old");
    const context = await write("a", "mine");
    await unlink(at("a"));
    expect((await undo(context)).status).toBe("dirty");
    await symlink("elsewhere", at("a"));
    expect((await undo(context)).status).toBe("dirty");
    await unlink(at("a"));
    await mkdir(at("a"));
    expect((await undo(context)).status).toBe("dirty");
  });

  it("takes two writes of one file back in reverse order", async () => {
    await writeFile(at("a"), "0");
    const first = await write("a", "1", toolContext({ key: "one" }));
    const second = await write("a", "2", toolContext({ key: "two" }));
    expect(await undo(second)).toEqual({ status: "undone" });
    expect(await text("a")).toBe("1");
    expect(await undo(first)).toEqual({ status: "undone" });
    expect(await text("a")).toBe("0");
  });

  it("refuses undo arguments that it did not write", async () => {
    const attempt = async () => tools[0].undo?.restore?.({ path: "a" }, undoContext());
    await expect(attempt()).rejects.toThrow();
  });
});

describe("sweep", () => {
  it("removes copies of effects that are settled, and leaves the others and what is not ours", async () => {
    expect(await tools.sweep(() => false)).toBe(0);
    await writeFile(at("big"), Buffer.alloc(3 * 1024 * 1024, 7));
    const first = await write("big", "1", toolContext({ key: "a~b.1.1" }));
    await writeFile(at("big2"), Buffer.alloc(2 * 1024 * 1024, 8));
    await write("big2", "2", toolContext({ key: "c/d.1.1" }));
    await writeFile(at("big3"), Buffer.alloc(2 * 1024 * 1024, 9));
    await write("big3", "3", toolContext({ key: "x".repeat(300) }));
    await writeFile(at(".agenttx-undo/notes.txt"), "by hand");
    const asked: unknown[] = [];
    const removed = await tools.sweep((keptFor) => {
      asked.push(keptFor);
      return keptFor.idempotencyKey === "a~b.1.1";
    });
    expect(removed).toBe(1);
    expect(asked).toContainEqual({ namespace: "", transaction: "t", idempotencyKey: "c/d.1.1" });
    expect(asked).toHaveLength(2);
    expect(await readdir(at(".agenttx-undo"))).toHaveLength(3);
    expect(await undo(first)).toEqual({ status: "undone" });
  });

  it("is not led elsewhere by a link in place of the directory", async () => {
    const outside = mkdtempSync(join(tmpdir(), "agenttx-outside-"));
    await writeFile(join(outside, "~t~k~0"), "kept");
    await symlink(outside, at(".agenttx-undo"));
    await expect(tools.sweep(() => false)).rejects.toMatchObject({ code: expect.any(String) });
    expect(await readdir(outside)).toEqual(["~t~k~0"]);
    await rm(outside, { recursive: true });
  });
});

describe("fs.delete", () => {
  it("deletes, and its undo brings the file back", async () => {
    await writeFile(at("a"), "old");
    await chmod(at("a"), 0o640);
    const context = await remove("a");
    expect(readdirSync(root)).toEqual([]);
    expect(await undo(context)).toEqual({ status: "undone" });
    expect(await text("a")).toBe("old");
    expect((await stat(at("a"))).mode & 0o7777).toBe(0o640);
    expect(await undo(context)).toEqual({ status: "already-undone" });
  });

  it("does not overwrite a file made since by someone else", async () => {
    await writeFile(at("a"), "old");
    const context = await remove("a");
    await writeFile(at("a"), "theirs");
    expect((await undo(context)).status).toBe("dirty");
    expect(await text("a")).toBe("theirs");
  });

  it("says that there is nothing to delete, and registers nothing", async () => {
    const context = toolContext();
    const text = "ENOENT: no such file or directory, open 'a'";
    await expect(remove("a", context)).rejects.toThrow(text);
    await expect(remove("no/a", context)).rejects.toThrow("ENOENT");
    expect(context.registered).toEqual([]);
  });
});

describe("fs.read", () => {
  const read = (args: object) => call(tools[1], args, toolContext());

  it("reads text and bytes", async () => {
    await writeFile(at("a"), "\ufeffé");
    expect(await read({ path: "a" })).toEqual({ path: "a", content: "\ufeffé", bytes: 5 });
    expect(await read({ path: "a", encoding: "base64" })).toMatchObject({ content: "77u/w6k=" });
  });

  it("refuses bytes that are no text, and what is not there", async () => {
    await writeFile(at("a"), Buffer.of(0xff));
    await expect(read({ path: "a" })).rejects.toThrow("not UTF-8");
    await expect(read({ path: "b" })).rejects.toThrow("ENOENT: no such file or directory");
    await expect(read({ path: "no/b" })).rejects.toThrow("ENOENT: no such file or directory");
  });
});

describe("lookup after a crash or a deadline", () => {
  const lookup = (args: { path: string; content: string }, key = "key-1") =>
    tools[0].lookup?.({ args, idempotencyKey: key }, undoContext(key));

  it("answers landed, with the output, when the file is as it was to be", async () => {
    const args = { path: "a", content: "new" };
    const output = await call(tools[0], args, toolContext());
    expect(await lookup(args)).toEqual({ status: "landed", output });
  });

  it("answers absent, not finally, when another process may still be writing", async () => {
    const absent = { status: "absent", final: false };
    expect(await lookup({ path: "a", content: "new" })).toEqual(absent);
    expect(await lookup({ path: "no/a", content: "new" })).toEqual(absent);
  });

  it("waits for a call of this process and is then final", async () => {
    let release = (): void => undefined;
    let reached = (): void => undefined;
    const registering = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const controller = new AbortController();
    const onRegister = (): Promise<void> => {
      reached();
      return held;
    };
    const context = toolContext({ signal: controller.signal, onRegister });
    const writing = write("a", "new", context);
    await registering;
    const answer = Promise.resolve(lookup({ path: "a", content: "new" }));
    controller.abort(new Error("deadline"));
    release();
    await expect(writing).rejects.toThrow("deadline");
    expect(await answer).toEqual({ status: "absent", final: true });
  });

  it("tells whether a deletion landed", async () => {
    await writeFile(at("a"), "x");
    const of = () => tools[2].lookup?.({ args: { path: "a" }, idempotencyKey: "k" }, undoContext());
    expect(await of()).toEqual({ status: "absent", final: false });
    await remove("a");
    expect(await of()).toEqual({ status: "landed", output: { path: "a" } });
  });
});
