// Goal: the short way gives the text that the library gives. Method: arbitrary JSON, both ways.
import type { JsonValue } from "@agenttx/model";
import fc from "fast-check";
import { canonicalize } from "json-canonicalize";
import { describe, expect, it } from "vitest";
import { canonicalText } from "./canonical-text.js";

describe("the canonical text", () => {
  it("is that of RFC 8785 for every value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as JsonValue;
        expect(canonicalText(plain, JSON.stringify(plain))).toBe(canonicalize(plain));
      }),
      { numRuns: 1_000 },
    );
  });

  it("does not depend on the order of keys", () => {
    const texts = [
      '{"b":1,"a":{"d":[{"y":1,"x":2}],"c":3}}',
      '{"a":{"c":3,"d":[{"x":2,"y":1}]},"b":1}',
    ];
    const canonical = texts.map((text) => canonicalText(JSON.parse(text) as JsonValue, text));
    expect(canonical[0]).toBe(texts[1]);
    expect(canonical[1]).toBe(texts[1]);
  });

  it("sorts numbers among keys as text, and minds toJSON", () => {
    for (const value of [{ 9: 1, 10: 2 }, { toJSON: "x" }, { a: { b: 1, toJSON: 2 } }, { "": 1 }]) {
      expect(canonicalText(value, JSON.stringify(value))).toBe(canonicalize(value));
    }
  });
});
