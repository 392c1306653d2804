// Goal: what a program forgets, or gets wrong in a name, is refused before anything begins (S11).
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { createEngine } from "./engine.js";
import { fields } from "./testing/schema.js";

it.each([
  [undefined, "INVALID_ARGUMENT"],
  [{}, "INVALID_ARGUMENT"],
  [{ tools: [] }, "INVALID_ARGUMENT"],
  [{ store: { path: "x" }, tools: [] }, "INVALID_ARGUMENT"],
  [{ store: openMemoryStore() }, "INVALID_ARGUMENT"],
])("refuses %o", (options, code) => {
  // As a program without types would call it.
  expect(() => createEngine(options as never)).toThrow(expect.objectContaining({ code }));
});

it.each(["", "two\nlines", "tab\there", "bell\u0007", "hidden\u200bspace", "right\u202eleft"])(
  "refuses the tool name %j",
  (name) => {
    const make = () =>
      defineTool({ name, schema: fields({}), effect: "read-only", execute: () => null });
    expect(make).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }));
    expect(make).not.toThrow(/[\n\t]/);
  },
);

it("takes the names of all languages", () => {
  for (const name of ["kv.put", "größe prüfen", "検索"]) {
    defineTool({ name, schema: fields({}), effect: "read-only", execute: () => null });
  }
});
