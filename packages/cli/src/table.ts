// Owns the tables for people: aligned columns without lines, readable in a log as well.

import type { Paint } from "./output.js";
import { printable } from "./output.js";

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly value: (row: Row) => string | number | null;
}

/** Lines of a table with a head; the last column is not padded. Null shows as `-`. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Paint,
): string[] {
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = column.value(row);
      return value === null || value === "" ? "-" : printable(String(value));
    }),
  );
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((row) => width(row[index] ?? ""))),
  );
  const layout = (row: readonly string[]) =>
    row
      .map((cell, index) => {
        const space = " ".repeat(Math.max(0, (widths[index] ?? 0) - width(cell)));
        if (columns[index]?.align === "right") return space + cell;
        return index === row.length - 1 ? cell : cell + space;
      })
      .join("  ");
  return [
    paint("dim", layout(columns.map((column) => column.title))),
    ...cells.map((row) => layout(row)),
  ];
}

/** `name  value` pairs, the values in one column. */
export function pairLines(
  pairs: readonly (readonly [string, string | number | null])[],
  paint: Paint,
): string[] {
  const longest = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => {
    const shown = value === null || value === "" ? "-" : printable(String(value));
    return `${paint("dim", name.padEnd(longest))}  ${shown}`;
  });
}

/** Columns a text takes in a terminal: wide East Asian characters take two, marks none. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
