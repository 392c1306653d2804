// Goal: the collection holds what was configured, every tool complete.

import { describe, expect, it } from "vitest";
import { builtinTools } from "./builtin.js";

const everything = () =>
  builtinTools({
    record: { tables: { t: { primaryKey: "id", columns: { id: { type: "integer" } } } } },
    fs: { root: "." },
    effect: { sinks: { none: { deliver: async () => ({ duplicate: false }) } } },
  });

describe("builtinTools", () => {
  it("holds kv tools alone when nothing is configured", () => {
    expect(builtinTools().map(({ name }) => name)).toEqual(["kv.put", "kv.get", "kv.delete"]);
    expect(builtinTools({ kv: false })).toEqual([]);
  });

  it("holds each tool once", () => {
    expect(everything().map(({ name }) => name)).toEqual([
      "kv.put",
      "kv.get",
      "kv.delete",
      "record.insert",
      "record.get",
      "record.update",
      "record.delete",
      "fs.write",
      "fs.read",
      "fs.delete",
      "effect.stage",
    ]);
  });

  it("gives each tool an effect class, a version, a description and a schema", () => {
    for (const tool of everything()) {
      expect(["read-only", "reversible", "irreversible"]).toContain(tool.effect);
      expect(tool.version).toBe("1");
      expect(tool.description).toMatch(/^[A-Z]/);
      expect(tool.schema["~standard"].version).toBe(1);
    }
  });

  it("gives every reversible tool outside the store an undo", () => {
    for (const tool of everything()) {
      if (tool.effect !== "reversible" || tool.scope === "store") continue;
      expect(Object.keys(tool.undo ?? {})).toEqual(["restore"]);
      expect(tool.lookup).toBeTypeOf("function");
    }
  });
});
