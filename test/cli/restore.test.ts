// Goal: a restored store holds what the backup held, is a store of its own, and appears whole or not at
// all (S12, D5). Nothing that exists is touched.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openStore } from "@agenttx/storage";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workplace } from "./agenttx.js";

let place: Workplace;
let copy: string;
let fresh: string;

beforeEach(async () => {
  place = new Workplace();
  copy = join(place.root, "copy");
  fresh = join(place.root, "fresh");
  const plan = place.plan("p", [["kv.put", { key: "a", value: 1 }]]);
  expect((await place.run(["run", plan])).exitCode).toBe(0);
  expect((await place.run(["backup", copy])).exitCode).toBe(0);
});
afterEach(() => place.remove());

const restore = (from: string, to: string) => place.run(["restore", from, "--data", to, "--json"]);

it("holds what the backup held, under a new incarnation, for its user alone", async () => {
  const done = await restore(copy, fresh);
  expect(done.exitCode).toBe(0);
  expect(done.json()).toMatchObject({ type: "restore", path: fresh, openTransactions: 0 });
  for (const entry of readdirSync(fresh, { withFileTypes: true, recursive: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o077;
    expect([entry.name, mode]).toEqual([entry.name, 0]);
  }
  expect((await place.run(["audit", "verify", "--data", fresh])).exitCode).toBe(0);
  const [one, other] = [await openStore({ path: place.data }), await openStore({ path: fresh })];
  expect((await one.scan()).length).toBeGreaterThan(0);
  expect(await other.scan()).toEqual(await one.scan());
  expect(other.incarnation).not.toBe(one.incarnation);
  await one.close();
  await other.close();
  // Again from the same backup: it was not changed by the first time.
  expect((await restore(copy, join(place.root, "second"))).exitCode).toBe(0);
});

it("leaves what is there as it is", async () => {
  mkdirSync(fresh);
  writeFileSync(join(fresh, "mine"), "x");
  expect(await restore(copy, fresh)).toMatchObject({ exitCode: 2 });
  expect(readdirSync(fresh)).toEqual(["mine"]);
  expect(await restore(copy, place.data)).toMatchObject({ exitCode: 2 });
  expect(await restore(join(place.root, "none"), join(place.root, "x"))).toMatchObject({
    exitCode: 3,
  });
  expect(existsSync(join(place.root, "x"))).toBe(false);
});

it("refuses a backup that is in use", async () => {
  const live = await openStore({ path: place.data });
  const done = await restore(place.data, fresh);
  expect(done.json()).toMatchObject({ error: { code: "STORE_LOCKED" } });
  expect(existsSync(fresh)).toBe(false);
  await live.close();
});

it.each(["cut", "gone"])(
  "refuses a backup with a file that is %s, and leaves nothing",
  async (how) => {
    const folder = join(copy, "db");
    const name = readdirSync(folder).find((file) => file.startsWith("MANIFEST-")) ?? "";
    const file = join(folder, name);
    const bytes = readFileSync(file);
    if (how === "cut") writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    else rmSync(file);
    const done = await restore(copy, fresh);
    expect(done.exitCode).toBe(5);
    expect(done.json().error.code).toMatch(/^STORE_/);
    expect(readdirSync(place.root).filter((entry) => entry.startsWith("fresh"))).toEqual([]);
  },
);

it("says what was open when the backup was made", async () => {
  const plan = place.plan("o", [["kv.put", { key: "b", value: 1 }]]);
  expect((await place.run(["run", plan, "--keep-open"])).exitCode).toBe(0);
  const second = join(place.root, "copy-2");
  await place.run(["backup", second]);
  const done = await restore(second, fresh);
  expect(done.json()).toMatchObject({ openTransactions: 1, unresolved: 0 });
  expect(done.stderr).toContain("1 transactions are open in it");
});
