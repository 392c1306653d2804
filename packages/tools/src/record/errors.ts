// Owns the texts of record errors. They are those of PostgreSQL, so that an agent, a hint rule and
// a person meet the words they know. All are definite: nothing was written.

import { DefiniteFailure, type JsonValue } from "@agenttx/model";
import type { ColumnType, ForeignKey, Table } from "./tables.js";

const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  text: "text",
  integer: "bigint",
  number: "double precision",
  boolean: "boolean",
  json: "jsonb",
};

/** A value as PostgreSQL shows it in a DETAIL line. */
function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "boolean") return value ? "t" : "f";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function expressionType(value: JsonValue): string {
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "bigint" : "numeric";
  return "jsonb";
}

export function unknownTable(table: string): DefiniteFailure {
  return new DefiniteFailure(`relation "${table}" does not exist`);
}

export function unknownColumn(table: string, column: string): DefiniteFailure {
  return new DefiniteFailure(`column "${column}" of relation "${table}" does not exist`);
}

export function wrongType(column: string, type: ColumnType, value: JsonValue): DefiniteFailure {
  return new DefiniteFailure(
    `column "${column}" is of type ${SQL_TYPES[type]} but expression is of type ${expressionType(value)}\nHINT:  You will need to rewrite or cast the expression.`,
  );
}

export function nullValue(
  table: Table,
  column: string,
  row: Readonly<Record<string, JsonValue>>,
): DefiniteFailure {
  const values = [...table.columns.keys()].map((name) => shown(row[name]));
  return new DefiniteFailure(
    `null value in column "${column}" of relation "${table.name}" violates not-null constraint\nDETAIL:  Failing row contains (${values.join(", ")}).`,
  );
}

export function duplicateKey(constraint: string, column: string, value: JsonValue) {
  return new DefiniteFailure(
    `duplicate key value violates unique constraint "${constraint}"\nDETAIL:  Key (${column})=(${shown(value)}) already exists.`,
  );
}

export function missingParent(foreign: ForeignKey, value: JsonValue): DefiniteFailure {
  return new DefiniteFailure(
    `insert or update on table "${foreign.table}" violates foreign key constraint "${foreign.name}"\nDETAIL:  Key (${foreign.column})=(${shown(value)}) is not present in table "${foreign.parent}".`,
  );
}

export function stillReferenced(foreign: ForeignKey, value: JsonValue): DefiniteFailure {
  return new DefiniteFailure(
    `update or delete on table "${foreign.parent}" violates foreign key constraint "${foreign.name}" on table "${foreign.table}"\nDETAIL:  Key (${foreign.parentKey})=(${shown(value)}) is still referenced from table "${foreign.table}".`,
  );
}

export function noRow(table: Table, key: JsonValue): DefiniteFailure {
  return new DefiniteFailure(
    `query returned no rows\nDETAIL:  Key (${table.primaryKey})=(${shown(key)}) is not present in table "${table.name}".`,
  );
}

export function primaryKeyChange(table: Table): DefiniteFailure {
  return new DefiniteFailure(
    `column "${table.primaryKey}" can only be updated to DEFAULT\nDETAIL:  Column "${table.primaryKey}" is the primary key of table "${table.name}"; insert a new row instead.`,
  );
}
