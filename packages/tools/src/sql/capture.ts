// Owns the capture of row changes on our own connection, by temporary triggers: they see what
// REPLACE and foreign key actions do as well, and no other connection sees them.
//
//   T1 Every ordinary table has either triggers that record its changes or triggers that refuse
//      them: nothing is changed that is not recorded.
//   T2 The function behind them has a name that no statement can know or guess.
//   T3 They fit the schema: when its version changed, they are made anew first.

import { randomBytes } from "node:crypto";
import type { SqlConnection, SqlValue } from "./driver.js";
import { refusal } from "./errors.js";
import { ChangeLog, type SqlRow, type TableImages } from "./images.js";
import { literal, quoted, readTables, type SqlTable } from "./tables.js";

export interface CaptureLimits {
  /** Most row changes of one statement. */
  readonly rowsMax: number;
  /** Most bytes of all images of one statement. */
  readonly bytesMax: number;
}

const OLD = 0n;
const NEW = 1n;
/** OLD row of an update: the NEW one follows in the next call. */
const OLD_OF_UPDATE = 2n;
const NEW_OF_UPDATE = 3n;

interface Running {
  readonly log: ChangeLog;
  readonly limits: CaptureLimits;
  rows: number;
  bytes: number;
  old: SqlRow | null;
}

export class RowCapture {
  readonly #connection: SqlConnection;
  readonly #allowed: ReadonlySet<string> | null;
  readonly #name = `agenttx_${randomBytes(16).toString("hex")}`;
  #tables: readonly SqlTable[] = [];
  #schemaVersion: unknown = null;
  #running: Running | null = null;

  /** `allowed`: lower-case names of the tables that may change; null: all. */
  constructor(connection: SqlConnection, allowed: ReadonlySet<string> | null) {
    this.#connection = connection;
    this.#allowed = allowed;
    const options = { varargs: true, safeIntegers: true };
    connection.function(this.#name, options, (...args) => this.#record(args));
  }

  get tables(): readonly SqlTable[] {
    return this.#tables;
  }

  /** Makes the triggers fit the schema (T3). REQUIRES: no transaction is open. */
  arm(): void {
    if (this.fits()) return;
    const version = this.#connection.pragma("main.schema_version", { simple: true });
    const tables = readTables(this.#connection, this.#allowed);
    const old = this.#connection
      .prepare(
        `SELECT name FROM sqlite_temp_schema
         WHERE type = 'trigger' AND name LIKE 'agenttx\\_%' ESCAPE '\\'`,
      )
      .raw()
      .all()
      .flat();
    const drop = old.map((name) => `DROP TRIGGER IF EXISTS temp.${quoted(String(name))};`);
    const make = tables.flatMap((table, index) => this.#triggers(table, index));
    this.#connection.exec([...drop, ...make].join("\n"));
    this.#tables = tables;
    this.#schemaVersion = version;
  }

  /** True while the triggers fit the schema; ask again inside the transaction. */
  fits(): boolean {
    return this.#schemaVersion === this.#connection.pragma("main.schema_version", { simple: true });
  }

  /** What `work` changes, as net images. Throws when it goes over a limit. */
  during<Result>(
    limits: CaptureLimits,
    work: () => Result,
  ): { readonly result: Result; readonly images: TableImages[] } {
    const running = { log: new ChangeLog(), limits, rows: 0, bytes: 0, old: null };
    this.#running = running;
    try {
      const result = work();
      return { result, images: running.log.net() };
    } finally {
      this.#running = null;
    }
  }

  #triggers(table: SqlTable, index: number): string[] {
    const on = `ON main.${quoted(table.name)} FOR EACH ROW BEGIN SELECT`;
    const trigger = (event: string, body: readonly string[]): string =>
      `CREATE TEMP TRIGGER ${quoted(`agenttx_${index}_${event}`)} AFTER ${event} ${on} ` +
      `${body.join("; SELECT ")}; END;`;
    const call = (side: bigint, row: "OLD" | "NEW"): string => {
      const values = table.columns.map((name) => `${row}.${quoted(name)}`);
      return `${this.#name}(${[index, side, ...values].join(", ")})`;
    };
    if (table.refused !== null) {
      const refuse = [`RAISE(ABORT, ${literal(`${table.refused}; nothing was changed`)})`];
      return ["INSERT", "UPDATE", "DELETE"].map((event) => trigger(event, refuse));
    }
    return [
      trigger("INSERT", [call(NEW, "NEW")]),
      trigger("UPDATE", [call(OLD_OF_UPDATE, "OLD"), call(NEW_OF_UPDATE, "NEW")]),
      trigger("DELETE", [call(OLD, "OLD")]),
    ];
  }

  #record(args: readonly SqlValue[]): null {
    const [index, side, ...row] = args;
    const table = this.#tables[Number(index)];
    const running = this.#running;
    if (table === undefined || running === null) return null;
    measure(running, row);
    if (side === OLD_OF_UPDATE) {
      running.old = row;
      return null;
    }
    running.rows += 1;
    if (running.rows > running.limits.rowsMax) {
      const { rowsMax } = running.limits;
      throw refusal(`the statement changes more than ${rowsMax} rows; nothing was changed`);
    }
    const before = side === OLD ? row : side === NEW_OF_UPDATE ? running.old : null;
    const after = side === OLD ? null : row;
    for (const one of [before, after]) if (one !== null) requireKey(table, one);
    running.log.add(table, before, after);
    return null;
  }
}

function measure(running: Running, row: SqlRow): void {
  for (const value of row) {
    running.bytes += typeof value === "string" ? Buffer.byteLength(value) : sizeOf(value);
  }
  if (running.bytes > running.limits.bytesMax) {
    const { bytesMax } = running.limits;
    throw refusal(`the changed rows are larger than ${bytesMax} bytes; nothing was changed`);
  }
}

function sizeOf(value: SqlValue): number {
  return Buffer.isBuffer(value) ? value.byteLength : 8;
}

/** SQLite lets most primary keys be NULL, and then they name no row. */
function requireKey(table: SqlTable, row: SqlRow): void {
  for (const name of table.key) {
    if ((row[table.columns.indexOf(name)] ?? null) !== null) continue;
    throw refusal(`NOT NULL constraint failed: ${table.name}.${name} (part of the primary key)`);
  }
}
