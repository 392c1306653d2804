// Goal: P1 and P2 of the path grammar. Method: known spellings, then any text.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PATH_SEGMENTS_MAX } from "./limits.js";
import { joinPaths, readPath, writePath } from "./path.js";

describe("paths", () => {
  it.each([
    ["", []],
    ["a", ["a"]],
    ["a.b.c", ["a", "b", "c"]],
    ["items[1].qty", ["items", 1, "qty"]],
    ["items.1.qty", ["items", 1, "qty"]],
    ["/items/1/qty", ["items", 1, "qty"]],
    ["#/items/1/qty", ["items", 1, "qty"]],
    ["/a~1b/c~0d", ["a/b", "c~d"]],
    ["$.items[1]", ["items", 1]],
    ["$", []],
    ["$ref", ["$ref"]],
    ["messages.[3].role", ["messages", 3, "role"]],
    ['a["x.y"].b', ["a", "x.y", "b"]],
    ["a['x.y']", ["a", "x.y"]],
    ["[0][1]", [0, 1]],
    ["a[name]", ["a", "name"]],
    ["a[]", ["a"]],
    ["a[1", ["a", 1]],
    ["a..b.", ["a", "b"]],
    ["007", ["007"]],
  ])("reads %j", (text, segments) => expect(readPath(text)).toEqual(segments));

  it("writes one text per place", () => {
    expect(writePath(["items", 1, "qty"])).toBe("items[1].qty");
    expect(writePath(["a.b", "", "0", "/x"])).toBe('["a.b"][""][0]["/x"]');
  });

  it("joins a path and what lies inside it", () => {
    expect(joinPaths("a", "b")).toBe("a.b");
    expect(joinPaths("a", "[0].b")).toBe("a[0].b");
    expect(joinPaths("", "b")).toBe("b");
    expect(joinPaths("a", "")).toBe("a");
  });

  it("refuses what is too long or too deep", () => {
    expect(readPath("x".repeat(1025))).toBe(null);
    expect(readPath(".a".repeat(PATH_SEGMENTS_MAX))?.length).toBe(PATH_SEGMENTS_MAX);
    expect(readPath(".a".repeat(PATH_SEGMENTS_MAX + 1))).toBe(null);
  });

  it("reads back what it wrote, for names of any characters", () => {
    const name = fc.oneof(fc.string({ unit: "binary" }), fc.string());
    const segment = fc.oneof(name, fc.nat(), fc.constantFrom("a.b", "[", '"', "\\", "$", "0"));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
        const text = writePath(segments);
        const back = readPath(text);
        fc.pre(back !== null);
        expect(back.map(String)).toEqual(segments.map(String));
        expect(writePath(back)).toBe(text);
      }),
    );
  });

  it("reads any text without an error", () => {
    const parts = fc.constantFrom("a", ".", "[", "]", '"', "'", "\\", "/", "#", "$", "1", "~");
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), (some) => {
        const text = writePath(readPath(some.join("")) ?? []);
        expect(writePath(readPath(text) ?? [])).toBe(text);
      }),
    );
  });
});
