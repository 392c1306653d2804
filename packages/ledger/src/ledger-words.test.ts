// Goal: the small pure parts: waiting times, ids, canonical text, standing of states.

import type { EffectRecord } from "@agenttx/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.js";
import { canonicalJson } from "./canonical.js";
import { isListed, isOpen, isSettled } from "./durability.js";
import { effectIdOf, effectSeqOf } from "./effect-id.js";

describe("backoffMs", () => {
  const limits = { baseMs: 100, capMs: 1_000 };

  it("doubles up to the cap", () => {
    const full = [1, 2, 3, 4, 5, 1_000].map((tries) => backoffMs(tries, 1, limits));
    expect(full).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it("takes a random number out of its range as the nearest in it", () => {
    expect([backoffMs(1, -3, limits), backoffMs(1, 0, limits)]).toEqual([50, 50]);
    expect([backoffMs(1, 7, limits), backoffMs(0, 1, limits)]).toEqual([100, 100]);
  });

  it("stays between half and full for every random number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1 }), (tries, r) => {
        if (Number.isNaN(r)) return;
        const wait = backoffMs(tries, r, limits);
        const full = backoffMs(tries, 1, limits);
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });
});

describe("effect ids", () => {
  it("give their number back, also when the transaction id holds slashes", () => {
    expect(effectSeqOf(effectIdOf("a/b/2", 17))).toBe(17);
  });

  it("refuse text that is no effect id", () => {
    for (const text of ["", "t/", "t/0", "t/1x", "t/-1", "t/1\n", "t/99999999999999999999"]) {
      expect(() => effectSeqOf(text)).toThrow(RangeError);
    }
    const long = `${"x".repeat(200)}/`;
    expect(() => effectSeqOf(long)).toThrow(`"${"x".repeat(80)}" is not an effect id.`);
  });
});

describe("canonicalJson", () => {
  it("is the same for equal values in any member order", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"x","d":null}]}',
    );
  });

  it("is read back as the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const value = JSON.parse(JSON.stringify(json));
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });
});

describe("standing", () => {
  it("calls nothing open that is settled", () => {
    expect(isSettled("resolved") && !isOpen("resolved")).toBe(true);
    expect(isOpen("requested") && isOpen("unresolved") && !isSettled("unresolved")).toBe(true);
    expect(isOpen("confirmed") || isSettled("confirmed")).toBe(false);
  });

  it("lists what waits, for whatever it waits", () => {
    const record = (waitsFor: EffectRecord["waitsFor"]) => ({ waitsFor }) as EffectRecord;
    expect(isListed(record(null))).toBe(false);
    expect((["retry", "person", "tool"] as const).every((one) => isListed(record(one)))).toBe(true);
  });
});
