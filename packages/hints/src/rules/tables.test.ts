// Goal: the tables are sound. Method: every row is compiled and compared with what it promises.

import { describe, expect, it } from "vitest";
import { sentence } from "../sentences.js";
import { CODE_NAMES } from "../structure/code-names.js";
import { patternOf } from "../template.js";
import { rules } from "./index.js";

const RULES = rules();

describe("the rule tables", () => {
  it("have a pattern that compiles for every row", () => {
    for (const rule of RULES)
      expect(() => new RegExp(patternOf(rule.template), "imy"), rule.name).not.toThrow();
  });

  it("have a literal in lower case of four characters and more", () => {
    for (const { literal, name } of RULES) {
      expect(literal, name).toBe(literal.toLowerCase());
      expect(literal.length, name).toBeGreaterThanOrEqual(4);
    }
  });

  it("repeat nothing without a bound: no star, no plus in any pattern", () => {
    for (const rule of RULES) {
      const bare = patternOf(rule.template)
        .replace(/\[(?:\\.|[^\]\\])*\]/g, "C")
        .replace(/\\./g, "E");
      expect(bare, rule.name).not.toMatch(/[*+]|\{\d+,\}/);
    }
  });

  it("name only categories that have a sentence", () => {
    const categories = new Set([
      ...RULES.map((rule) => rule.category),
      ...[...CODE_NAMES.values()].map((meaning) => meaning.split(" ")[0] ?? ""),
    ]);
    for (const category of categories) {
      // A category without a sentence makes `sentence` throw.
      expect(sentence(category as never, "k", null)).toMatch(/^Hint: .*"k"/);
    }
  });

  it("fit the longest key into 240 characters", () => {
    for (const { category } of RULES) {
      expect(sentence(category, "k".repeat(128), null).length).toBeLessThanOrEqual(240);
    }
  });
});
