// Goal: what is printed cannot move a cursor, and colours appear only where they are wanted.

import { afterEach, describe, expect, it, vi } from "vitest";
import { painter, printable } from "./output.js";
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
    expect(printable("a\u202eb")).toBe("a?b");
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
