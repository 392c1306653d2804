// Owns taking a change back, in one SQLite transaction (E8, E9).
//
//   U1 Every row is compared first: as we left it, it is put back; as it was before, it is left
//      alone; anything else makes the whole undo dirty and nothing is touched.
//   U2 The undo changes the recorded rows and no others: what foreign keys or new triggers would
//      do beside it makes it dirty as well.
//   U3 A key that never landed is cancelled, so that it cannot land later.

import type { UndoResult } from "@agenttx/model";
import { dirtyResult, ownershipOf } from "../owned.js";
import type { SqlConnection, SqlValue } from "./driver.js";
import { isConstraint } from "./errors.js";
import {
  decodeImages,
  describeRow,
  keyValues,
  type RowImage,
  type SqlRow,
  sameImages,
  sameRow,
  type TableImages,
} from "./images.js";
import { CANCELLED, type EffectRef, putMarker, readMarker } from "./markers.js";
import type { Writer } from "./session.js";
import { quoted } from "./tables.js";

/**
 * REQUIRES: the writer's transaction is open. The caller commits it, whatever the answer; a commit
 * that a foreign key refuses means dirty too.
 */
export function undoOnce(writer: Writer, ref: EffectRef): UndoResult {
  const { connection } = writer;
  const marker = readMarker(connection, ref.idempotencyKey);
  if (marker === null) putMarker(connection, ref, CANCELLED);
  if (marker?.state !== "done") return { status: "already-undone" };
  const images = decodeImages(marker.images ?? "[]");
  const open: TableImages[] = [];
  for (const of of images) {
    const problem = strangerIn(writer, of);
    if (problem !== null) return dirtyResult(`the rows of ${of.table} as they were left`, problem);
    const judged = judge(connection, of);
    if ("status" in judged) return judged;
    if (judged.rows.length > 0) open.push(judged);
  }
  const problem = putBack(writer, open);
  if (problem !== null) return dirtyResult(`${countRows(open)} rows that can be put back`, problem);
  putMarker(connection, ref, { ...marker, state: "undone", images: null });
  return { status: open.length === 0 ? "already-undone" : "undone" };
}

function countRows(images: readonly TableImages[]): number {
  return images.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** Why the table is no longer the one that was changed; null: it is. */
function strangerIn({ capture }: Writer, of: TableImages): string | null {
  const table = capture.tables.find(({ name }) => name === of.table);
  if (table === undefined) return `there is no table ${of.table} any more`;
  const same = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((name, at) => name === other[at]);
  if (!same(table.columns, of.columns) || !same(table.key, of.key)) {
    return `table ${of.table} has other columns now`;
  }
  return table.refused;
}

/** The rows that are still as we left them, or dirty (U1). */
function judge(connection: SqlConnection, of: TableImages): TableImages | UndoResult {
  const rows: RowImage[] = [];
  for (const image of of.rows) {
    const found = currentRow(connection, of, image);
    const ownership = ownershipOf({ ...image, found, same: sameRow });
    if (ownership === "theirs") {
      return dirtyResult(describeRow(of, image.after), describeRow(of, found));
    }
    if (ownership === "ours") rows.push(image);
  }
  return { ...of, rows };
}

function currentRow(connection: SqlConnection, of: TableImages, image: RowImage): SqlRow | null {
  const { where, values } = byKey(of, image);
  const columns = of.columns.map(quoted).join(", ");
  const [row] = connection
    .prepare(`SELECT ${columns} FROM main.${quoted(of.table)} WHERE ${where}`)
    .safeIntegers(true)
    .raw(true)
    .all(...values);
  // Raw rows are arrays of SQLite values.
  return row === undefined ? null : (row as SqlRow);
}

/** The row with this key, byte for byte: a collation could take another one for it. */
function byKey(of: TableImages, image: RowImage): { where: string; values: readonly SqlValue[] } {
  const values = keyValues(of, image.before ?? image.after ?? []);
  const where = of.key
    .map((name) => `${quoted(name)} = ? AND ${quoted(name)} COLLATE BINARY = ?`)
    .join(" AND ");
  return { where, values: values.flatMap((value) => [value, value]) };
}

type Way = (connection: SqlConnection, images: readonly TableImages[]) => void;

/** Which order works depends on the constraints between the rows; each is tried whole. */
const WAYS: readonly Way[] = [
  (connection, images) => {
    each(images, (of, image) => image.after === null && insert(connection, of, image.before));
    each(images, (of, image) => update(connection, of, image));
    each(images, (of, image) => image.before === null && remove(connection, of, image));
  },
  (connection, images) => {
    each(images, (of, image) => image.before === null && remove(connection, of, image));
    each(images, (of, image) => update(connection, of, image));
    each(images, (of, image) => image.after === null && insert(connection, of, image.before));
  },
  // Rows that swapped unique values have to go before they can come back.
  (connection, images) => {
    each(images, (of, image) => image.after !== null && remove(connection, of, image));
    each(images, (of, image) => image.before !== null && insert(connection, of, image.before));
  },
];

/** Puts all rows back, exactly (U2). Returns why it cannot; then nothing is changed. */
function putBack({ connection, capture }: Writer, images: readonly TableImages[]): string | null {
  if (images.length === 0) return null;
  const limits = { rowsMax: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };
  const wanted = images.map((of) => ({
    ...of,
    rows: of.rows.map(({ before, after }) => ({ before: after, after: before })),
  }));
  let problem = "";
  for (const way of WAYS) {
    connection.exec("SAVEPOINT undo");
    try {
      connection.pragma("defer_foreign_keys = ON");
      const { images: changed } = capture.during(limits, () => way(connection, images));
      if (sameImages(changed, wanted)) {
        connection.exec("RELEASE undo");
        return null;
      }
      problem = "other rows depend on them";
    } catch (error) {
      if (!isConstraint(error)) throw error;
      problem = error instanceof Error ? error.message : "a constraint";
    }
    connection.exec("ROLLBACK TO undo; RELEASE undo");
  }
  return problem;
}

function each(
  images: readonly TableImages[],
  act: (of: TableImages, image: RowImage) => unknown,
): void {
  for (const of of images) for (const image of of.rows) act(of, image);
}

function insert(connection: SqlConnection, of: TableImages, row: SqlRow | null): void {
  if (row === null) return;
  const columns = of.columns.map(quoted).join(", ");
  const places = of.columns.map(() => "?").join(", ");
  connection
    .prepare(`INSERT INTO main.${quoted(of.table)} (${columns}) VALUES (${places})`)
    .run(...row);
}

function update(connection: SqlConnection, of: TableImages, image: RowImage): void {
  const { before, after } = image;
  if (before === null || after === null) return;
  const changed = of.columns.flatMap((name, at) =>
    Object.is(before[at], after[at]) ? [] : [{ name, value: before[at] ?? null }],
  );
  const { where, values } = byKey(of, image);
  const set = changed.map(({ name }) => `${quoted(name)} = ?`).join(", ");
  connection
    .prepare(`UPDATE main.${quoted(of.table)} SET ${set} WHERE ${where}`)
    .run(...changed.map(({ value }) => value), ...values);
}

function remove(connection: SqlConnection, of: TableImages, image: RowImage): void {
  const { where, values } = byKey(of, image);
  connection.prepare(`DELETE FROM main.${quoted(of.table)} WHERE ${where}`).run(...values);
}
