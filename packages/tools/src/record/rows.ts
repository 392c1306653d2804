// Owns where rows, unique values and references lie in the transaction's state, and the checks on
// them.
//
//   r/{table}/{key}                 the row as JSON
//   i/{table}/{column}/{value}      key of the row that has this unique value
//   f/{constraint}/{bucket}/{key}   keys of the rows that reference parent `key`
//
//   N1 Every check that another transaction could make untrue is a validated read, so the commit
//      fails instead of breaking a constraint (S8).
//   N2 References are spread over 64 buckets by the child's key. A child writes one bucket, a
//      deletion of the parent validates all: two children rarely meet, a child and a deletion do.

import { createHash } from "node:crypto";
import type { JsonValue, ToolState } from "@agenttx/model";
import { decodeJson, encodeJson } from "../json-bytes.js";
import { duplicateKey, missingParent, stillReferenced } from "./errors.js";
import type { ForeignKey, Table } from "./tables.js";

export type Row = Readonly<Record<string, JsonValue>>;

const BUCKETS = 64;

function rowKey(table: string, key: JsonValue): string {
  return `r/${table}/${key}`;
}

export async function readRow(
  state: ToolState,
  table: Table,
  key: JsonValue,
  options: { readonly validate: boolean },
): Promise<Row | null> {
  const bytes = await state.get(rowKey(table.name, key), options);
  return bytes === null ? null : (decodeJson(bytes) as Row);
}

export function putRow(state: ToolState, table: Table, row: Row): void {
  state.put(rowKey(table.name, row[table.primaryKey] ?? null), encodeJson(row));
}

export function deleteRow(state: ToolState, table: Table, key: JsonValue): void {
  state.delete(rowKey(table.name, key));
}

function indexKey(table: string, column: string, value: JsonValue): string {
  return `i/${table}/${column}/${digest(value)}`;
}

/** Values can be long; their digest names them in a key of the store. */
function digest(value: JsonValue): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function uniqueColumns(table: Table): string[] {
  return [...table.columns]
    .filter(([name, column]) => column.unique === true && name !== table.primaryKey)
    .map(([name]) => name);
}

/** Throws when another row has a unique value of `row`. NULLs never clash. */
export async function checkUnique(state: ToolState, table: Table, row: Row): Promise<void> {
  for (const column of uniqueColumns(table)) {
    const value = row[column] ?? null;
    if (value === null) continue;
    const owner = await state.get(indexKey(table.name, column, value), { validate: true });
    if (owner === null || decodeJson(owner) === row[table.primaryKey]) continue;
    throw duplicateKey(`${table.name}_${column}_key`, column, value);
  }
}

/** Throws when a foreign key of `row` names no row of its parent. NULL references nothing. */
export async function checkParents(
  state: ToolState,
  tables: ReadonlyMap<string, Table>,
  table: Table,
  row: Row,
): Promise<void> {
  for (const foreign of table.foreignKeys) {
    const value = row[foreign.column] ?? null;
    const parent = tables.get(foreign.parent);
    if (value === null || parent === undefined) continue;
    const own = parent.name === table.name && value === row[table.primaryKey];
    if (own || (await readRow(state, parent, value, { validate: true })) !== null) continue;
    throw missingParent(foreign, value);
  }
}

/** Throws while rows of other tables, or other rows, reference the row with this key. */
export async function checkUnreferenced(
  state: ToolState,
  table: Table,
  key: JsonValue,
): Promise<void> {
  for (const foreign of table.referencedBy) {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const children = await readBucket(state, foreign, bucket, key, { validate: true });
      const others =
        foreign.table === table.name ? children.filter((child) => child !== key) : children;
      if (others.length > 0) throw stillReferenced(foreign, key);
    }
  }
}

function bucketOf(child: JsonValue): number {
  return Number.parseInt(digest(child).slice(0, 8), 16) % BUCKETS;
}

function bucketKey(foreign: ForeignKey, bucket: number, parent: JsonValue): string {
  return `f/${foreign.name}/${bucket}/${digest(parent)}`;
}

async function readBucket(
  state: ToolState,
  foreign: ForeignKey,
  bucket: number,
  parent: JsonValue,
  options: { readonly validate: boolean },
): Promise<readonly JsonValue[]> {
  const bytes = await state.get(bucketKey(foreign, bucket, parent), options);
  return bytes === null ? [] : (decodeJson(bytes) as readonly JsonValue[]);
}

/** Brings unique values and references from what `before` had to what `after` has. */
export async function reindex(
  state: ToolState,
  table: Table,
  key: JsonValue,
  change: { readonly before: Row | null; readonly after: Row | null },
): Promise<void> {
  const { before, after } = change;
  for (const column of uniqueColumns(table)) {
    const [old, next] = [before?.[column] ?? null, after?.[column] ?? null];
    if (old === next) continue;
    if (old !== null) state.delete(indexKey(table.name, column, old));
    if (next !== null) state.put(indexKey(table.name, column, next), encodeJson(key));
  }
  for (const foreign of table.foreignKeys) {
    const [old, next] = [before?.[foreign.column] ?? null, after?.[foreign.column] ?? null];
    if (old === next) continue;
    if (old !== null) await editBucket(state, foreign, key, old, "remove");
    if (next !== null) await editBucket(state, foreign, key, next, "add");
  }
}

async function editBucket(
  state: ToolState,
  foreign: ForeignKey,
  child: JsonValue,
  parent: JsonValue,
  edit: "add" | "remove",
): Promise<void> {
  const bucket = bucketOf(child);
  const known = await readBucket(state, foreign, bucket, parent, { validate: false });
  const others = known.filter((each) => each !== child);
  const children = edit === "add" ? [...others, child] : others;
  const key = bucketKey(foreign, bucket, parent);
  if (children.length === 0) state.delete(key);
  else state.put(key, encodeJson(children));
}
