// Owns what a table is, and the check of the declaration itself.

import { AgentTxError } from "@agenttx/model";

export type ColumnType = "text" | "integer" | "number" | "boolean" | "json";

export interface ColumnDefinition {
  readonly type: ColumnType;
  /** Default false. The primary key is never null. */
  readonly notNull?: boolean;
  /** Default false. The primary key is always unique. */
  readonly unique?: boolean;
  /** Name of the table whose primary key this column holds. */
  readonly references?: string;
}

export interface TableDefinition {
  /** Column whose value names the row: text or integer. */
  readonly primaryKey: string;
  readonly columns: Readonly<Record<string, ColumnDefinition>>;
}

export type Tables = Readonly<Record<string, TableDefinition>>;

/** One table with its columns in order and its foreign keys, in and out. */
export interface Table {
  readonly name: string;
  readonly primaryKey: string;
  readonly columns: ReadonlyMap<string, ColumnDefinition>;
  readonly foreignKeys: readonly ForeignKey[];
  /** Foreign keys of other tables that point here. */
  readonly referencedBy: readonly ForeignKey[];
}

export interface ForeignKey {
  /** Named as PostgreSQL names it: `orders_customer_id_fkey`. */
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  readonly parentKey: string;
}

const IDENTIFIER = /^[a-z_][a-z0-9_]{0,62}$/;

function invalid(message: string): AgentTxError {
  return new AgentTxError("TOOL_INVALID", `${message}; no tool was made.`);
}

function checkTable(name: string, table: TableDefinition, tables: Tables): void {
  const names = [name, ...Object.keys(table.columns)];
  const wrong = names.find((each) => !IDENTIFIER.test(each));
  if (wrong !== undefined) {
    throw invalid(`${JSON.stringify(wrong)} is no lower-case identifier of at most 63 characters`);
  }
  const key = table.columns[table.primaryKey];
  if (key === undefined || (key.type !== "text" && key.type !== "integer")) {
    throw invalid(`The primary key of table ${name} is a text or integer column of it`);
  }
  for (const [column, { references, type }] of Object.entries(table.columns)) {
    if (references === undefined) continue;
    const parent = Object.hasOwn(tables, references) ? tables[references] : undefined;
    if (parent?.columns[parent.primaryKey]?.type !== type) {
      throw invalid(`${name}.${column} references ${references}, whose key has another type`);
    }
  }
}

/** The tables by name, checked. Throws TOOL_INVALID when the declaration contradicts itself. */
export function readTables(tables: Tables): ReadonlyMap<string, Table> {
  for (const [name, table] of Object.entries(tables)) checkTable(name, table, tables);
  const foreignKeys = Object.entries(tables).flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([column, { references }]): ForeignKey[] => {
      const parentKey = references === undefined ? undefined : tables[references]?.primaryKey;
      if (references === undefined || parentKey === undefined) return [];
      return [{ name: `${table}_${column}_fkey`, table, column, parent: references, parentKey }];
    }),
  );
  return new Map(
    Object.entries(tables).map(([name, { primaryKey, columns }]) => [
      name,
      {
        name,
        primaryKey,
        columns: new Map(Object.entries(columns)),
        foreignKeys: foreignKeys.filter((foreign) => foreign.table === name),
        referencedBy: foreignKeys.filter((foreign) => foreign.parent === name),
      },
    ]),
  );
}
