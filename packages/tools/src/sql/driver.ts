// Owns the seam to better-sqlite3: the part of it that is used, how it is found, how connections
// are opened. It is an optional peer: nothing here needs it before a database is opened.

import { createRequire } from "node:module";
import { AgentTxError } from "@agenttx/model";

/** What SQLite stores: integers come as bigint, reals as number, so that both come back exactly. */
export type SqlValue = null | string | number | bigint | Buffer;

export interface SqlStatement {
  /** False for what may write. True for ATTACH too: the text decides as well. */
  readonly readonly: boolean;
  /** True when it gives rows. */
  readonly reader: boolean;
  run(...params: readonly unknown[]): { changes: number; lastInsertRowid: number | bigint };
  all(...params: readonly unknown[]): unknown[];
  iterate(...params: readonly unknown[]): IterableIterator<unknown>;
  raw(on?: boolean): this;
  safeIntegers(on?: boolean): this;
  columns(): readonly { readonly name: string }[];
}

export interface SqlConnection {
  readonly name: string;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqlStatement;
  exec(sql: string): unknown;
  pragma(sql: string, options?: { readonly simple?: boolean }): unknown;
  function(
    name: string,
    options: { readonly varargs: boolean; readonly safeIntegers: boolean },
    body: (...args: readonly SqlValue[]) => null,
  ): unknown;
  close(): unknown;
}

export interface OpenOptions {
  readonly readonly: boolean;
  readonly fileMustExist: boolean;
  /** Milliseconds that a statement blocks the thread for a lock. */
  readonly timeout: number;
}

type OpenConnection = (path: string, options: OpenOptions) => SqlConnection;

/** A database of better-sqlite3 that the caller has open; its class opens our own connections. */
export interface SqliteDatabase {
  readonly name: string;
  readonly memory: boolean;
}

/** Where the database is: a file, or one that is open already. */
export interface DatabaseSource {
  readonly path?: string | undefined;
  readonly database?: SqliteDatabase | undefined;
}

/**
 * The path and how to open it. Throws TOOL_INVALID without exactly one of both, for a database in
 * memory (it belongs to one connection), and when better-sqlite3 is not installed.
 */
export function databaseOf(source: DatabaseSource): { path: string; open: OpenConnection } {
  const { path, database } = source;
  if (path !== undefined && database === undefined) {
    refuseMemory(path === "" || path === ":memory:");
    return { path, open: openWith(loadDriver()) };
  }
  if (database === undefined || path !== undefined) {
    throw invalid("sql tools take either path or database");
  }
  refuseMemory(database.memory);
  return { path: database.name, open: openWith(database.constructor) };
}

function refuseMemory(memory: boolean): void {
  if (!memory) return;
  throw invalid("a database in memory belongs to one connection; sql tools need a file");
}

function openWith(driver: unknown): OpenConnection {
  // What a class of better-sqlite3 makes fits SqlConnection; the tests of this package hold it.
  const Driver = driver as new (path: string, options: OpenOptions) => SqlConnection;
  return (path, options) => new Driver(path, options);
}

function loadDriver(): unknown {
  try {
    const driver: unknown = createRequire(import.meta.url)("better-sqlite3");
    // The native part is loaded with the first database; one in memory tells whether it is there.
    openWith(driver)(":memory:", { readonly: false, fileMustExist: false, timeout: 0 }).close();
    return driver;
  } catch (cause) {
    throw new AgentTxError(
      "TOOL_INVALID",
      "sql tools need the package better-sqlite3 12, which is not installed or does not load; no tool was made. Install it beside @agenttx/tools, or hand over an open database.",
      { cause },
    );
  }
}

function invalid(why: string): AgentTxError {
  return new AgentTxError("TOOL_INVALID", `${why}; no tool was made.`);
}
