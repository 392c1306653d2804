// Goal: what a step has written is its own, whatever the tool does with its bytes afterwards.
import type { StateRange } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { StateBuffer } from "./state-buffer.js";

async function bufferOnStore() {
  const store = await openMemoryStore();
  return new StateBuffer(await store.begin("tx-1"));
}

it("keeps a value and a key that the tool goes on writing to, Buffers too", async () => {
  const buffer = await bufferOnStore();
  for (const make of [(text: string) => Buffer.from(text), (text: string) => encoded(text)]) {
    const key = make("key");
    const value = make("before");
    buffer.put(key, value);
    value.fill(0);
    key.fill(0x7a);
    expect(text(await buffer.get("key"))).toBe("before");
  }
});

it("hands out copies of its own writes", async () => {
  const buffer = await bufferOnStore();
  buffer.put("key", Buffer.from("before"));
  (await buffer.get("key"))?.fill(0);
  const [scanned] = await buffer.scan({ prefix: "key" });
  scanned?.value.fill(0);
  expect(text(await buffer.get("key"))).toBe("before");
});

it("refuses a lone surrogate and takes any other text", async () => {
  const buffer = await bufferOnStore();
  expect(() => buffer.put("a\ud800", encoded(""))).toThrow(/lone surrogate/);
  buffer.put("ключ-🔑", encoded("v"));
  expect(text(await buffer.get(encoded("ключ-🔑")))).toBe("v");
});

const MIB = 1024 * 1024;

/** A store with committed keys of one MiB each, and a buffer on a new transaction. */
async function bufferOver(keys: readonly string[]) {
  const store = await openMemoryStore();
  const before = await store.begin("before");
  for (const key of keys) await before.put(key, new Uint8Array(MIB));
  await before.commit();
  return new StateBuffer(await store.begin("tx-1"));
}

async function allPages(buffer: StateBuffer, range: StateRange): Promise<string[]> {
  const found: string[] = [];
  const zero = Buffer.of(0);
  for (let rest = range; ; ) {
    const page = await buffer.scan(rest);
    const last = page.at(-1);
    if (last === undefined) return found;
    found.push(...page.map(({ key }) => text(key) ?? ""));
    const behind = range.reverse === true;
    rest = behind
      ? { start: "k", end: last.key, reverse: true }
      : { start: Buffer.concat([last.key, zero]), end: "l" };
  }
}

const forty = Array.from({ length: 40 }, (_, index) => `k${100 + index}`);

for (const reverse of [false, true]) {
  const order = (keys: readonly string[]) => (reverse ? [...keys].reverse() : [...keys]);
  const way = reverse ? "backward" : "forward";

  it(`shows every key once, page by page, ${way}, with own writes behind a full page`, async () => {
    const buffer = await bufferOver(forty);
    for (const key of ["k000", "k120x", "k139x", "k2"]) buffer.put(key, encoded("own"));
    buffer.delete("k105");
    const expected = [...forty.filter((key) => key !== "k105"), "k000", "k120x", "k139x", "k2"];
    expect(await allPages(buffer, { prefix: "k", reverse })).toEqual(order(expected.sort()));
  });

  it(`reads over pages that the step has deleted, ${way}`, async () => {
    const buffer = await bufferOver(forty);
    for (const key of forty) if (key !== "k130" && key !== "k110") buffer.delete(key);
    expect(await allPages(buffer, { prefix: "k", reverse })).toEqual(order(["k110", "k130"]));
    buffer.delete("k110");
    buffer.delete("k130");
    expect(await buffer.scan({ prefix: "k", reverse })).toEqual([]);
  });
}

it("keeps to the limit beside its own writes", async () => {
  const buffer = await bufferOver(["a", "c", "e"]);
  buffer.put("b", encoded(""));
  buffer.put("d", encoded(""));
  buffer.delete("a");
  const keys = async (range: StateRange) =>
    (await buffer.scan(range)).map(({ key }) => text(key)).join("");
  expect(await keys({ limit: 2 })).toBe("bc");
  expect(await keys({ limit: 2, reverse: true })).toBe("ed");
  expect(await keys({ start: "c" })).toBe("cde");
  for (const limit of [0, -1, 1.5, 100_001]) {
    await expect(buffer.scan({ limit })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
});

function encoded(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
