// Goal: every envelope that is not ours is refused with the word for what is wrong with it, and
// nothing is written that would come back as something else (J1, J2).

import { isAgentTxError, limits } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { checkJson, decodeRecord, encodeRecord } from "./json-bytes.js";

function refusal(run: () => unknown): { code: string; message: string; details: object } {
  try {
    run();
  } catch (error) {
    if (!isAgentTxError(error)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
  throw new Error("nothing was refused");
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): unknown =>
  JSON.parse(`${"[".repeat(levels)}1${"]".repeat(levels)}`);

describe("decodeRecord", () => {
  it("takes the version off and keeps the rest", () => {
    expect(decodeRecord(bytes('{"v":1,"a":[1],"v2":2}'), "thing")).toEqual({ a: [1], v2: 2 });
  });

  it.each([
    ["it is not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d)],
    ["it is not JSON", bytes("{")],
    ["it is not JSON", bytes("")],
    ["it is not JSON", bytes('\ufeff{"v":1}')],
    ["it is no object", bytes("null")],
    ["it is no object", bytes("7")],
    ["it is no object", bytes('"v"')],
    ["it is no object", bytes("[1]")],
    ["it has no version", bytes("{}")],
    ["it has no version", bytes('{"v":"1"}')],
    ["it has no version", bytes('{"v":0}')],
    ["it has no version", bytes('{"v":-1}')],
    ["it has no version", bytes('{"v":1.5}')],
    ["it has no version", bytes('{"v":1e400}')],
  ])("refuses as corrupt, because %s: %s", (why, damaged) => {
    expect(refusal(() => decodeRecord(damaged, "thing"))).toEqual({
      code: "STORE_CORRUPT",
      message: `A stored thing cannot be read: ${why}. It is left as it is; other records are not affected.`,
      details: { record: "thing" },
    });
  });

  it("refuses a newer version with both numbers", () => {
    const { code, message, details } = refusal(() => decodeRecord(bytes('{"v":2}'), "thing"));
    expect(code).toBe("FORMAT_TOO_NEW");
    expect(message).toContain("The thing has version 2; this version reads up to 1.");
    expect(details).toEqual({ version: 2, versionMax: 1 });
  });
});

describe("encodeRecord", () => {
  it("writes its own version over any that is there, and leaves undefined members out", () => {
    const text = new TextDecoder().decode(encodeRecord({ v: 9, a: null, b: undefined, c: "x" }));
    expect(JSON.parse(text)).toEqual({ v: 1, a: null, c: "x" });
  });

  it("takes a member nested as deep as the limit, and refuses one level more by name", () => {
    const deepest = nested(limits.JSON_DEPTH_MAX);
    expect(decodeRecord(encodeRecord({ deepest }), "thing")).toEqual({ deepest });
    expect(refusal(() => encodeRecord({ deep: nested(limits.JSON_DEPTH_MAX + 1) }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `The record is nested deeper than ${limits.JSON_DEPTH_MAX}; nothing was written.`,
    });
    let deep: object = {};
    for (let level = 0; level <= limits.JSON_DEPTH_MAX; level += 1) deep = { deep };
    expect(refusal(() => encodeRecord({ deep })).message).toContain("nested deeper");
  });

  it.each([
    ["bigint", 1n],
    ["number", Number.NaN],
    ["number", Number.NEGATIVE_INFINITY],
    ["function", () => 1],
    ["symbol", Symbol("s")],
    ["object", new Date(0)],
    ["object", new Map()],
    ["undefined", [undefined]],
  ])("refuses a %s that JSON cannot keep: %s", (kind, value) => {
    expect(refusal(() => encodeRecord({ member: [{ value }] }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `The record holds a ${kind} that JSON cannot keep; nothing was written.`,
    });
  });

  it("takes objects without a prototype", () => {
    expect(() => checkJson(Object.assign(Object.create(null), { a: 1 }), 2, "x")).not.toThrow();
  });

  it("looks into a number where the depth is used up, but into no object", () => {
    expect(() => checkJson(1, 0, "x")).not.toThrow();
    expect(refusal(() => checkJson({}, 0, "x")).message).toContain("nested deeper");
    expect(refusal(() => checkJson(1n, 0, "x")).message).toContain("holds a bigint");
  });
});
