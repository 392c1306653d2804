// Goal: a report of ours is seen, and one that we cannot help is not taken for ours.
import { describe, expect, it } from "vitest";
import { leaksIn, reportIn } from "./judge.js";

const leak = (...frames: readonly string[]) =>
  [
    "==1==ERROR: LeakSanitizer: detected memory leaks",
    "",
    "Direct leak of 40 byte(s) in 1 object(s) allocated from:",
    ...frames.map((frame, number) => `    #${number} 0x1 in ${frame}`),
    "",
    "SUMMARY: AddressSanitizer: 40 byte(s) leaked",
  ].join("\n");

describe("reportIn", () => {
  it.each([
    "ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
    "WARNING: ThreadSanitizer: data race (pid=1)",
    "runtime error: left shift of negative value",
  ])("sees: %s", (line) => {
    expect(reportIn(`before\n${line}\nafter`)).toBe(`${line}\nafter`);
  });

  it("says nothing about text without a report", () => {
    expect(reportIn("102 passed, 0 failed")).toBeNull();
  });
});

describe("leaksIn", () => {
  it("takes what our frames allocated, and leaves Node's own", () => {
    expect(leaksIn(leak("operator new", "agenttx::node::Init addon.cc:62"))).toHaveLength(1);
    expect(leaksIn(leak("malloc", "v8::internal::MemoryChunk::MemoryChunk"))).toEqual([]);
    expect(
      leaksIn(leak("operator new", "napi_create_promise (node)", "agenttx::node::RunAsync")),
    ).toEqual([]);
  });
});
