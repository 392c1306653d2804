// Goal: what is printed cannot move a cursor, and colours appear only where they are wanted.

import { afterEach, describe, expect, it, vi } from "vitest";
import { createOutput, jsonText, painter, printable } from "./output.js";
import { pairLines, tableLines, width } from "./table.js";

const terminal = { isTTY: true } as NodeJS.WriteStream;
const file = {} as NodeJS.WriteStream;
const plain = (_style: string, text: string) => text;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("painter", () => {
  it.each([
    ["a terminal", terminal, {}, true],
    ["a file", file, {}, false],
    ["a terminal with NO_COLOR", terminal, { NO_COLOR: "1" }, false],
    ["a dumb terminal", terminal, { TERM: "dumb" }, false],
    ["a file with FORCE_COLOR", file, { FORCE_COLOR: "1" }, true],
    ["a terminal with FORCE_COLOR=0", terminal, { FORCE_COLOR: "0" }, false],
  ])("on %s", (_what, stream, environment, coloured) => {
    for (const name of ["NO_COLOR", "FORCE_COLOR", "TERM"]) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    expect(painter(stream)("red", "text").includes("\u001b[")).toBe(coloured);
  });
});

describe("printable", () => {
  it("keeps text on one line and shows control characters as question marks", () => {
    expect(printable("a\nb\u001b[2Jc\u0007")).toBe("a b?[2Jc?");
  });

  it("does not let text run backwards", () => {
    expect(printable("a\u202eb\u2066c\u200ed")).toBe("a?b?c?d");
  });

  it("hides nothing and ends no line", () => {
    expect(printable("a\u200bb\ufeffc\u{e0041}d\ud800e\u2028f\u009bg")).toBe("a?b?c?d?e?f?g");
  });
});

describe("jsonText", () => {
  it("escapes what a terminal obeys or nobody sees, and is read back as it was", () => {
    const value = { text: "a\u001b[2J\u009b\u007f\u202eb\u{e0041}\u2028" };
    const text = jsonText(value);
    expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe("a line that was not made printable", () => {
  it("loses all but the colours on its way out", () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    const output = createOutput({ json: false, quiet: false, verbose: false });
    output.line("\u001b[31mred\u001b[39m \u001b[2J\u001b]0;title\u0007 \u202eback");
    vi.restoreAllMocks();
    expect(written).toEqual(["\u001b[31mred\u001b[39m ?[2J?]0;title? ?back\n"]);
  });
});

describe("tableLines", () => {
  const rows = [
    { name: "a", count: 5 },
    { name: "言葉", count: 120 },
  ];

  it("aligns columns, wide characters included, and pads nothing at the end", () => {
    const lines = tableLines(
      rows,
      [
        { title: "name", value: (row) => row.name },
        { title: "n", align: "right", value: (row) => row.count },
      ],
      plain,
    );
    expect(lines).toEqual(["name    n", "a       5", "言葉  120"]);
    expect(new Set(lines.map(width)).size).toBe(1);
  });

  it("shows nothing as a dash, and no foreign control character", () => {
    expect(tableLines([{ name: "" }], [{ title: "x", value: (row) => row.name }], plain)).toEqual([
      "x",
      "-",
    ]);
    expect(pairLines([["note", "a\u001b[1m"]], plain)).toEqual(["note  a?[1m"]);
  });
});
