// Owns rows before and after a change: collected while it runs, stored, compared (E9).

import { z } from "zod";
import type { SqlValue } from "./driver.js";
import type { SqlTable } from "./tables.js";
import { fromStored, sameValue, shown, stored } from "./values.js";

/** Values in the order of the table's columns. */
export type SqlRow = readonly SqlValue[];

/** One row of one table, before and after; null: it was not there. Never both null. */
export interface RowImage {
  readonly before: SqlRow | null;
  readonly after: SqlRow | null;
}

/** What a change did to one table. */
export interface TableImages {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly rows: readonly RowImage[];
}

export function sameRow(one: SqlRow | null, other: SqlRow | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.length === other.length && one.every((value, at) => sameValue(value, other[at] ?? null))
  );
}

/** Text that names a row by its key: same text, same key. */
export function keyText(of: { columns: readonly string[]; key: readonly string[] }, row: SqlRow) {
  return JSON.stringify(keyValues(of, row).map(stored));
}

export function keyValues(
  of: { columns: readonly string[]; key: readonly string[] },
  row: SqlRow,
): SqlValue[] {
  return of.key.map((name) => row[of.columns.indexOf(name)] ?? null);
}

/** Collects single row changes and tells the net of them. */
export class ChangeLog {
  readonly #tables = new Map<string, { table: SqlTable; rows: Map<string, RowImage> }>();

  /** One event, in order. A changed key is the end of one row and the begin of another. */
  add(table: SqlTable, before: SqlRow | null, after: SqlRow | null): void {
    const keys = [before, after].map((row) => (row === null ? null : keyText(table, row)));
    if (before !== null && after !== null && keys[0] !== keys[1]) {
      this.add(table, before, null);
      this.add(table, null, after);
      return;
    }
    const known = this.#tables.get(table.name) ?? { table, rows: new Map<string, RowImage>() };
    this.#tables.set(table.name, known);
    const key = keys[0] ?? keys[1] ?? "";
    const first = known.rows.get(key);
    known.rows.set(key, { before: first === undefined ? before : first.before, after });
  }

  /** Rows that are not as they were, by table. */
  net(): TableImages[] {
    return [...this.#tables.values()].flatMap(({ table, rows }) => {
      const changed = [...rows.values()].filter(({ before, after }) => !sameRow(before, after));
      const { name, columns, key } = table;
      return changed.length === 0 ? [] : [{ table: name, columns, key, rows: changed }];
    });
  }
}

/** The same set of row images, whatever the order. */
export function sameImages(some: readonly TableImages[], others: readonly TableImages[]): boolean {
  const [one, other] = [indexed(some), indexed(others)];
  if (one.size !== other.size) return false;
  for (const [key, image] of one) {
    const match = other.get(key);
    if (match === undefined) return false;
    if (!sameRow(image.before, match.before) || !sameRow(image.after, match.after)) return false;
  }
  return true;
}

function indexed(images: readonly TableImages[]): Map<string, RowImage> {
  const found = new Map<string, RowImage>();
  for (const of of images) {
    for (const image of of.rows) {
      const row = image.before ?? image.after ?? [];
      found.set(`${of.table.toLowerCase()}\0${keyText(of, row)}`, image);
    }
  }
  return found;
}

const value = z.union([
  z.null(),
  z.string(),
  z.strictObject({ i: z.string() }),
  z.strictObject({ r: z.string() }),
  z.strictObject({ b: z.string() }),
]);
const row = z.array(value).nullable();
const images = z.array(
  z.strictObject({
    table: z.string(),
    columns: z.array(z.string()),
    key: z.array(z.string()),
    rows: z.array(z.strictObject({ before: row, after: row })),
  }),
);

export function encodeImages(of: readonly TableImages[]): string {
  return JSON.stringify(
    of.map((table) => ({
      ...table,
      rows: table.rows.map(({ before, after }) => ({
        before: before?.map(stored) ?? null,
        after: after?.map(stored) ?? null,
      })),
    })),
  );
}

/** Throws when it is not what `encodeImages` wrote. */
export function decodeImages(text: string): TableImages[] {
  return images.parse(JSON.parse(text)).map((table) => ({
    ...table,
    rows: table.rows.map(({ before, after }) => ({
      before: before?.map(fromStored) ?? null,
      after: after?.map(fromStored) ?? null,
    })),
  }));
}

const SHOWN_MAX = 200;

/** For people: `orders {"id":7,"total":12}` or `no row in orders`. */
export function describeRow(of: TableImages, found: SqlRow | null): string {
  if (found === null) return `no row in ${of.table}`;
  const named = Object.fromEntries(of.columns.map((name, at) => [name, shown(found[at] ?? null)]));
  const text = JSON.stringify(named);
  return `${of.table} ${text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text}`;
}
