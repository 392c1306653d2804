// Owns one change: the statement, its images and its marker in one SQLite transaction.
//
//   I1 A key that is done answers with its first output; one that is undone or cancelled changes
//      nothing any more (E3, E5).
//   I2 What cannot be undone is not done: a change without images is refused (capture, T1).

import { createHash } from "node:crypto";
import type { JsonValue } from "@agenttx/model";
import type { CaptureLimits } from "./capture.js";
import type { SqlStatement, SqlValue } from "./driver.js";
import { refusal } from "./errors.js";
import { encodeImages } from "./images.js";
import { type EffectRef, type Marker, putMarker, readMarker } from "./markers.js";
import type { Writer } from "./session.js";
import { prepareChange } from "./statement.js";
import { bound, type SqlParameter, shown } from "./values.js";

export type SqlParameters =
  | readonly SqlParameter[]
  | { readonly [name: string]: SqlParameter }
  | undefined;

export interface SqlCall {
  readonly sql: string;
  readonly params: SqlParameters;
}

/** A type, not an interface: it has to be JSON. */
export type SqlChange = {
  readonly changes: number;
  /** Rowid of the last inserted row; text past 2^53. Null for what inserts nothing. */
  readonly lastInsertRowid: JsonValue;
  /** Rows of RETURNING; empty without it. */
  readonly rows: readonly { readonly [column: string]: JsonValue }[];
};

/** Parameters as better-sqlite3 takes them. */
export function boundAll(params: SqlParameters): readonly unknown[] {
  if (params === undefined) return [];
  if (isList(params)) return params.map(bound);
  const named = Object.entries(params).map(([name, value]) => [name, bound(value)] as const);
  return [Object.fromEntries(named)];
}

function isList(params: object): params is readonly SqlParameter[] {
  return Array.isArray(params);
}

/** REQUIRES: the writer's transaction is open. Throws before or after changes; roll back then. */
export function changeOnce(
  { connection, capture }: Writer,
  ref: EffectRef,
  call: SqlCall,
  limits: CaptureLimits,
): SqlChange {
  const digest = digestOf(call);
  const known = readMarker(connection, ref.idempotencyKey);
  if (known !== null) return answerOf(known, digest);
  const params = boundAll(call.params);
  const statement = prepareChange(connection, call.sql, params);
  const { result, images } = capture.during(limits, () => run(statement, params, call.sql));
  const output = JSON.stringify(result);
  putMarker(connection, ref, { state: "done", digest, output, images: encodeImages(images) });
  return result;
}

function run(statement: SqlStatement, params: readonly unknown[], sql: string): SqlChange {
  if (statement.reader) {
    const rows = namedRows(statement, statement.raw(true).all(...params));
    return { changes: rows.length, lastInsertRowid: null, rows };
  }
  const { changes, lastInsertRowid } = statement.run(...params);
  const inserts = /\b(?:insert|replace)\b/i.test(sql) && changes > 0;
  return { changes, lastInsertRowid: inserts ? shown(lastInsertRowid) : null, rows: [] };
}

/** Rows by column name. REQUIRES: `rows` are raw. */
export function namedRows(statement: SqlStatement, rows: readonly unknown[]) {
  const names = statement.columns().map(({ name }) => name);
  return rows.map((row) => {
    // Raw rows are arrays of SQLite values.
    const values = row as readonly SqlValue[];
    return Object.fromEntries(names.map((name, at) => [name, shown(values[at] ?? null)]));
  });
}

function answerOf(marker: Marker, digest: string): SqlChange {
  if (marker.state !== "done") {
    throw refusal(`the idempotency key is ${marker.state}; nothing was changed`);
  }
  if (marker.digest !== digest) {
    throw refusal("the idempotency key belongs to another statement; nothing was changed");
  }
  // Written by `changeOnce`.
  return JSON.parse(marker.output ?? "null") as SqlChange;
}

function digestOf({ sql, params }: SqlCall): string {
  return createHash("sha256")
    .update(JSON.stringify([sql, params ?? null]))
    .digest("hex");
}
