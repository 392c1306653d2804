// Owns what is known of the tables of a database: key, columns, and why one is not taken.

import type { SqlConnection } from "./driver.js";

export interface SqlTable {
  readonly name: string;
  /** Columns that hold values of their own: generated ones follow from these. */
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Why its rows may not be changed; null: they may. */
  readonly refused: string | null;
}

/** A function of SQLite takes 127 arguments; two of ours say which table and which side. */
const COLUMNS_MAX = 120;

interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly pk: number;
  readonly hidden: number;
}

/**
 * All ordinary tables of the main database, ours left out. `allowed` null: every one. SQLite itself
 * keeps statements away from the shadow tables of virtual ones.
 */
export function readTables(
  connection: SqlConnection,
  allowed: ReadonlySet<string> | null,
): SqlTable[] {
  // The query names its columns; nothing else can come back.
  const rows = connection
    .prepare(
      `SELECT t.name AS "table", c.name AS "column", c.pk, c.hidden
       FROM pragma_table_list AS t, pragma_table_xinfo(t.name, t.schema) AS c
       WHERE t.schema = 'main' AND t.type = 'table'
         AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name NOT LIKE 'agenttx\\_%' ESCAPE '\\'
       ORDER BY t.name, c.cid`,
    )
    .all() as ColumnRow[];
  const withTriggers = new Set(
    connection
      .prepare(`SELECT lower(tbl_name) FROM main.sqlite_schema WHERE type = 'trigger'`)
      .raw()
      .all()
      .flat(),
  );
  const tables = new Map<string, ColumnRow[]>();
  for (const row of rows) tables.set(row.table, [...(tables.get(row.table) ?? []), row]);
  return [...tables].map(([name, columns]) => {
    const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
    return {
      name,
      columns: columns.filter(({ hidden }) => hidden === 0).map(({ column }) => column),
      key: key.map(({ column }) => column),
      refused: whyRefused(name, columns, key.length, {
        listed: allowed === null || allowed.has(name.toLowerCase()),
        triggers: withTriggers.has(name.toLowerCase()),
      }),
    };
  });
}

function whyRefused(
  name: string,
  columns: readonly ColumnRow[],
  keyColumns: number,
  is: { readonly listed: boolean; readonly triggers: boolean },
): string | null {
  if (!is.listed) return `table ${name} is not among the tables of this tool`;
  if (keyColumns === 0)
    return `table ${name} has no primary key, so its rows cannot be found again`;
  if (is.triggers) return `table ${name} has triggers, and what they do could not be undone`;
  if (columns.length > COLUMNS_MAX) return `table ${name} has more than ${COLUMNS_MAX} columns`;
  return null;
}

/** An identifier in quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
