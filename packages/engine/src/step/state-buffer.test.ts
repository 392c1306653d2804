// Goal: what a step has written is its own, whatever the tool does with its bytes afterwards.
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

function encoded(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
