// Owns reading: one query on the read-only connection, its answer bounded.

import type { JsonValue } from "@agenttx/model";
import type { CaptureLimits } from "./capture.js";
import { boundAll, namedRows, type SqlCall } from "./change.js";
import type { SqlConnection } from "./driver.js";
import { prepareQuery } from "./statement.js";

/** A type, not an interface: it has to be JSON. */
export type SqlRows = {
  readonly rows: readonly { readonly [column: string]: JsonValue }[];
  /** There are more rows than the limits let through. */
  readonly truncated: boolean;
};

export function queryRows(
  connection: SqlConnection,
  call: SqlCall,
  { rowsMax, bytesMax }: CaptureLimits,
): SqlRows {
  const statement = prepareQuery(connection, call.sql).raw(true);
  const rows: { readonly [column: string]: JsonValue }[] = [];
  let bytes = 0;
  for (const raw of statement.iterate(...boundAll(call.params))) {
    const [row = {}] = namedRows(statement, [raw]);
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (rows.length === rowsMax || bytes > bytesMax) return { rows, truncated: true };
    rows.push(row);
  }
  return { rows, truncated: false };
}
