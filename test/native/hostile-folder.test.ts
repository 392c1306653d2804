// Goal: whatever the folder of a store is or becomes, the answer is a code and no data is lost in
// silence (F6). Method: folders that are files, links, forbidden, removed and replaced; a child that
// gives its rights up.
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "@agenttx/storage";
import { describe, expect, it } from "vitest";
import { childScript, startChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ONE = new Uint8Array([1]);
const isRoot = process.getuid?.() === 0;
const mountable =
  process.platform === "linux" && spawnSync("unshare", ["-Urm", "true"]).status === 0;

async function commitOne(store: Store, id: string): Promise<void> {
  const tx = await store.begin(id);
  await tx.put(id, ONE);
  await tx.commit();
}

describe("a folder that is taken away while the store is open", () => {
  it("is no reason to begin an empty one: reopening is refused, reading goes on", async () => {
    const path = join(await temporaryDirectory(), "store");
    await using store = await openStore({ path });
    await commitOne(store, "a");
    rmSync(path, { recursive: true });
    await expect(store.reopen()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await store.get("a")).toEqual(ONE);
    expect((await store.stats()).commitVersion).toBe(1n);
    await expect(store.begin("b")).rejects.toMatchObject({ code: "STORE_POISONED" });
  });

  it("is taken up again when it is put back, and not when another is in its place", async () => {
    const root = await temporaryDirectory();
    const [path, away] = [join(root, "store"), join(root, "away")];
    await using store = await openStore({ path });
    await commitOne(store, "a");
    renameSync(path, away);
    await (await openStore({ path: join(root, "other") })).close();
    renameSync(join(root, "other"), path);
    await expect(store.reopen()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    rmSync(path, { recursive: true });
    renameSync(away, path);
    await store.reopen();
    await commitOne(store, "b");
    expect((await store.stats()).commitVersion).toBe(2n);
  });
});

describe("a path", () => {
  it("that is a file, lies below one, or is a link to nothing is refused", async () => {
    const root = await temporaryDirectory();
    writeFileSync(join(root, "file"), "x");
    symlinkSync(join(root, "nothing"), join(root, "dangling"));
    for (const name of ["file", "file/store", "dangling"]) {
      const opening = openStore({ path: join(root, name) });
      await expect(opening, name).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("that is a link is the same store as what it points to", async () => {
    const root = await temporaryDirectory();
    mkdirSync(join(root, "real"), { mode: 0o700 });
    symlinkSync(join(root, "real"), join(root, "link"));
    await using one = await openStore({ path: join(root, "link") });
    await using other = await openStore({ path: join(root, "real") });
    await commitOne(one, "a");
    expect(await other.get("a")).toEqual(ONE);
  });

  it.skipIf(!isRoot)("that is forbidden is refused, and kept as it is", async () => {
    const path = join(await temporaryDirectory(), "store");
    await (await openStore({ path })).close();
    const { lines, stderr } = await startChild(process.execPath, [
      childScript("open-without-rights.mjs"),
      path,
    ]).ended;
    expect({ lines, stderr }).toEqual({ lines: ["INVALID_ARGUMENT"], stderr: "" });
    await (await openStore({ path })).close();
  });

  it.skipIf(!mountable)("on a disk that cannot be written to is refused", async () => {
    const path = await temporaryDirectory();
    const { lines, stderr } = await startChild("unshare", [
      "-Urm",
      "sh",
      "-ec",
      'mount -t tmpfs tmpfs "$1" && mount -o remount,ro "$1" && exec "$2" "$3" "$1/store"',
      "sh",
      path,
      process.execPath,
      childScript("open-without-rights.mjs"),
    ]).ended;
    expect({ lines, stderr }).toEqual({ lines: ["INVALID_ARGUMENT"], stderr: "" });
  });
});
