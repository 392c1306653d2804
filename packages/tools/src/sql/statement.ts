// Owns which statements are taken, before anything is executed.

import type { SqlConnection, SqlStatement } from "./driver.js";
import { refusal } from "./errors.js";

const WRITES = new Set(["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]);
const READS = new Set(["SELECT", "VALUES", "WITH", "EXPLAIN"]);

/** Names of SQLite's own tables and of ours. A literal can be bound instead. */
const RESERVED = /\b(?:sqlite|agenttx)_/i;

/** First word of the statement, in capitals, comments and spaces skipped. */
function verbOf(sql: string): string {
  const start = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))*/.exec(sql)?.[0].length ?? 0;
  return /^[A-Za-z]*/.exec(sql.slice(start))?.[0].toUpperCase() ?? "";
}

function prepareOne(connection: SqlConnection, sql: string): SqlStatement {
  if (sql.includes("\0")) throw refusal("a NUL in the statement; nothing was executed");
  const statement = connection.prepare(sql);
  return statement.safeIntegers(true);
}

/**
 * One INSERT, UPDATE, DELETE or REPLACE. Refused, with nothing executed: several statements, DDL,
 * PRAGMA, ATTACH, transaction control, names of system tables, writes to virtual tables.
 */
export function prepareChange(
  connection: SqlConnection,
  sql: string,
  params: readonly unknown[],
): SqlStatement {
  const verb = verbOf(sql);
  if (!WRITES.has(verb)) {
    const what = READS.has(verb) ? "use sql.query to read" : `${verb || "this"} is not undone`;
    throw refusal(`sql.exec takes one INSERT, UPDATE or DELETE; ${what}. Nothing was executed.`);
  }
  if (RESERVED.test(sql)) {
    throw refusal("names that begin with sqlite_ or agenttx_ are not for statements; bind values");
  }
  const statement = prepareOne(connection, sql);
  if (statement.readonly) throw refusal("the statement changes nothing; use sql.query to read");
  if (writesVirtually(connection, sql, params)) {
    throw refusal("a virtual table has no rows that could be put back; nothing was executed");
  }
  return statement;
}

/** Virtual tables know no triggers, so their changes could not be captured. */
function writesVirtually(
  connection: SqlConnection,
  sql: string,
  params: readonly unknown[],
): boolean {
  const program = connection.prepare(`EXPLAIN ${sql}`).all(...params);
  return program.some(
    (row) => typeof row === "object" && row !== null && Reflect.get(row, "opcode") === "VUpdate",
  );
}

/** One SELECT, VALUES, WITH … SELECT or EXPLAIN. PRAGMA and ATTACH are refused. */
export function prepareQuery(connection: SqlConnection, sql: string): SqlStatement {
  const verb = verbOf(sql);
  if (!READS.has(verb)) {
    throw refusal(`sql.query reads; ${verb || "this"} is not a query. Nothing was executed.`);
  }
  const statement = prepareOne(connection, sql);
  if (!statement.readonly || !statement.reader) {
    throw refusal("sql.query reads; this statement writes. Nothing was executed.");
  }
  return statement;
}
