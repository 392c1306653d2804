// Owns record.insert, record.get, record.update and record.delete: rows with a primary key, types
// and foreign keys, in the transaction's own state (E1a).

import type { JsonValue, ToolState } from "@agenttx/model";
import { z } from "zod";
import { tool } from "../tool.js";
import {
  duplicateKey,
  noRow,
  nullValue,
  primaryKeyChange,
  unknownColumn,
  unknownTable,
  wrongType,
} from "./errors.js";
import {
  checkParents,
  checkUnique,
  checkUnreferenced,
  deleteRow,
  putRow,
  type Row,
  readRow,
  reindex,
} from "./rows.js";
import { type ColumnType, readTables, type Table, type Tables } from "./tables.js";

export interface RecordOptions {
  readonly tables: Tables;
}

const FITS: Readonly<Record<ColumnType, (value: JsonValue) => boolean>> = {
  text: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  json: () => true,
};

/** Columns are known, types fit, what must not be null is not. */
function checkRow(table: Table, row: Row): void {
  for (const [name, value] of Object.entries(row)) {
    const column = table.columns.get(name);
    if (column === undefined) throw unknownColumn(table.name, name);
    if (value !== null && !FITS[column.type](value)) throw wrongType(name, column.type, value);
  }
  for (const [name, column] of table.columns) {
    const required = column.notNull === true || name === table.primaryKey;
    if (required && (row[name] ?? null) === null) throw nullValue(table, name, row);
  }
}

/** The row with its columns in the table's order, absent ones as null. */
function complete(table: Table, values: Row): Row {
  const known = [...table.columns.keys()].map((name) => [name, values[name] ?? null] as const);
  return Object.fromEntries([...known, ...Object.entries(values)]);
}

/**
 * Tools on the tables given. `record.insert { table, values }` and
 * `record.update { table, key, values }` answer the whole row, `record.get { table, key }` answers
 * `{ found, row }`, `record.delete { table, key }` answers the row that was there.
 * Errors have PostgreSQL's words. Constraints hold at commit too: what they depend on is validated
 * (S8). Throws TOOL_INVALID when the tables contradict themselves.
 */
export function recordTools(options: RecordOptions) {
  const tables = readTables(options.tables);
  const tableOf = (name: string): Table => {
    const table = tables.get(name);
    if (table === undefined) throw unknownTable(name);
    return table;
  };
  const existing = async (state: ToolState, table: Table, key: JsonValue): Promise<Row> => {
    const row = await readRow(state, table, key, { validate: false });
    if (row === null) throw noRow(table, key);
    return row;
  };
  const table = z.string().describe("Name of the table");
  const key = z.union([z.string(), z.int()]).describe("Primary key of the row");
  const values = z.record(z.string(), z.json()).describe("Columns and their values");

  const insert = tool({
    name: "record.insert",
    description: "Inserts a row",
    version: "1",
    schema: z.strictObject({ table, values }),
    effect: "reversible",
    scope: "store",
    execute: async (args, { state }) => {
      const into = tableOf(args.table);
      const row = complete(into, args.values);
      checkRow(into, row);
      const id = row[into.primaryKey] ?? null;
      if ((await readRow(state, into, id, { validate: true })) !== null) {
        throw duplicateKey(`${into.name}_pkey`, into.primaryKey, id);
      }
      await checkUnique(state, into, row);
      await checkParents(state, tables, into, row);
      await reindex(state, into, id, { before: null, after: row });
      putRow(state, into, row);
      return row;
    },
  });
  const get = tool({
    name: "record.get",
    description: "Reads the row with this primary key",
    version: "1",
    schema: z.strictObject({ table, key }),
    effect: "read-only",
    scope: "store",
    execute: async (args, { state }) => {
      const row = await readRow(state, tableOf(args.table), args.key, { validate: false });
      return { found: row !== null, row };
    },
  });
  const update = tool({
    name: "record.update",
    description: "Changes columns of the row with this primary key",
    version: "1",
    schema: z.strictObject({ table, key, values }),
    effect: "reversible",
    scope: "store",
    execute: async (args, { state }) => {
      const of = tableOf(args.table);
      const before = await existing(state, of, args.key);
      const row = { ...before, ...args.values };
      checkRow(of, row);
      if (row[of.primaryKey] !== before[of.primaryKey]) throw primaryKeyChange(of);
      await checkUnique(state, of, row);
      await checkParents(state, tables, of, row);
      await reindex(state, of, args.key, { before, after: row });
      putRow(state, of, row);
      return row;
    },
  });
  const remove = tool({
    name: "record.delete",
    description: "Deletes the row with this primary key",
    version: "1",
    schema: z.strictObject({ table, key }),
    effect: "reversible",
    scope: "store",
    execute: async (args, { state }) => {
      const from = tableOf(args.table);
      const before = await existing(state, from, args.key);
      await checkUnreferenced(state, from, args.key);
      await reindex(state, from, args.key, { before, after: null });
      deleteRow(state, from, args.key);
      return before;
    },
  });
  return [insert, get, update, remove] as const;
}
