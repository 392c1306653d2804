// Owns sql.exec and sql.query: rows of a SQLite database, with undo.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { LookupResult, UndoResult } from "@agenttx/model";
import { z } from "zod";
import { certifiedByBuild } from "../adapter-kit/mark.js";
import { dirtyResult } from "../owned.js";
import type { IsOpen } from "../sweep.js";
import { tool } from "../tool.js";
import { changeOnce, type SqlChange } from "./change.js";
import { type DatabaseSource, databaseOf, type SqliteDatabase } from "./driver.js";
import { isConstraint } from "./errors.js";
import {
  CANCELLED,
  type EffectRef,
  markerPage,
  putMarker,
  readMarker,
  removeMarker,
} from "./markers.js";
import { queryRows } from "./query.js";
import { SqlSession } from "./session.js";
import { undoOnce } from "./undo.js";
import { sqlParameter } from "./values.js";

export interface SqlOptions extends DatabaseSource {
  /** The database file; it must exist. Give this or `database`. */
  readonly path?: string;
  /** A better-sqlite3 database on a file: own connections to that file are opened by its class. */
  readonly database?: SqliteDatabase;
  /** Tables whose rows may change. Default: all with a primary key and without triggers. */
  readonly tables?: readonly string[];
  /** Most rows that one statement changes, or that one query answers. Default 1,000. */
  readonly rowsMax?: number;
  /** Most bytes of the changed rows, or of one answer. Default 4 MiB. */
  readonly bytesMax?: number;
  /** How long a locked database is waited for, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

const SWEEP_PAGE = 200;
const NEVER = new AbortController().signal;

const sql = z.string().min(1).max(100_000);
const params = z
  .union([z.array(sqlParameter), z.record(z.string(), sqlParameter)])
  .optional()
  .describe("Values for ? in order, or for :name by name");

/**
 * `sql.exec { sql, params }` -> `{ changes, lastInsertRowid, rows }`: one INSERT, UPDATE or DELETE
 * on tables with a primary key. `sql.query { sql, params }` -> `{ rows, truncated }`, read only.
 * The change, the rows before and after, and a marker with the idempotency key (table
 * agenttx_effects) are one SQLite transaction. Undo never overwrites what someone else has changed
 * since (E9). Throws TOOL_INVALID when the options contradict themselves or better-sqlite3 is
 * missing. `close` closes the connections; a later call opens them again.
 */
export function sqlTools(options: SqlOptions) {
  const session = new SqlSession({
    ...databaseOf(options),
    allowed: options.tables === undefined ? null : new Set(options.tables.map(lowerCase)),
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
  });
  const limits = {
    rowsMax: options.rowsMax ?? 1_000,
    bytesMax: options.bytesMax ?? 4 * 1024 * 1024,
  };

  const exec = certifiedByBuild(
    tool({
      name: "sql.exec",
      description: "Changes rows of the database: one INSERT, UPDATE or DELETE",
      version: "1",
      schema: z.strictObject({ sql: sql.describe("The statement; bind values"), params }),
      effect: "reversible",
      execute: (args, context): Promise<SqlChange> => {
        const call = { sql: args.sql, params: args.params };
        return session.change(context.signal, (writer) =>
          changeOnce(writer, refOf(context), call, limits),
        );
      },
      compensate: async (_call, context): Promise<UndoResult> => {
        try {
          return await session.change(context.signal, (writer) => undoOnce(writer, refOf(context)));
        } catch (error) {
          // Foreign keys are checked at the commit: rows of others stand in the way.
          if (!isConstraint(error)) throw error;
          return dirtyResult("rows that can be put back", String(error));
        }
      },
      lookup: (_call, context): Promise<LookupResult<SqlChange>> =>
        session.change(context.signal, ({ connection }) => {
          const ref = refOf(context);
          const marker = readMarker(connection, ref.idempotencyKey);
          // An absence is final because the key is cancelled with it (E5).
          if (marker === null) putMarker(connection, ref, CANCELLED);
          if (marker?.state !== "done") return { status: "absent", final: true };
          // Written by `changeOnce`.
          return { status: "landed", output: JSON.parse(marker.output ?? "null") as SqlChange };
        }),
    }),
  );

  const query = tool({
    name: "sql.query",
    description: "Reads rows of the database: one SELECT",
    version: "1",
    schema: z.strictObject({ sql: sql.describe("The query; bind values"), params }),
    effect: "read-only",
    execute: (args, { signal }) =>
      session.read(signal, (connection) =>
        queryRows(connection, { sql: args.sql, params: args.params }, limits),
      ),
  });

  return Object.assign([exec, query] as const, {
    /** Closes the connections. */
    close: (): void => session.close(),
    /** Removes markers whose effect is settled for good; see `IsOpen`. Returns how many. */
    sweep: (isOpen: IsOpen): Promise<number> => sweepMarkers(session, isOpen),
  });
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}

function refOf(context: EffectRef): EffectRef {
  const { transaction, namespace, idempotencyKey } = context;
  return { transaction, namespace, idempotencyKey };
}

async function sweepMarkers(session: SqlSession, isOpen: IsOpen): Promise<number> {
  let removed = 0;
  let after = "";
  for (;;) {
    const page = await session.change(NEVER, ({ connection }) =>
      markerPage(connection, after, SWEEP_PAGE),
    );
    const settled: string[] = [];
    for (const ref of page) if (!(await isOpen(ref))) settled.push(ref.idempotencyKey);
    if (settled.length > 0) {
      await session.change(NEVER, ({ connection }) => {
        for (const key of settled) removeMarker(connection, key);
      });
    }
    removed += settled.length;
    const last = page.at(-1);
    if (last === undefined || page.length < SWEEP_PAGE) return removed;
    after = last.idempotencyKey;
    await nextTurn();
  }
}
