// Owns the table agenttx_effects: what became of each idempotency key, in the database itself.
//
//   M1 A marker is written in the transaction of the change: both are there or none.
//   M2 A key that was cancelled before it arrived is marked too, so that it can never land later.
//   M3 The images go when the undo is done; the marker stays until it is swept.

import type { SqlConnection } from "./driver.js";

export type MarkerState = "done" | "undone" | "cancelled";

export interface Marker {
  readonly state: MarkerState;
  /** SHA-256 of the request. */
  readonly digest: string | null;
  /** Output of the call, JSON. */
  readonly output: string | null;
  readonly images: string | null;
}

/** Which effect a marker belongs to. */
export interface EffectRef {
  readonly transaction: string;
  readonly namespace: string;
  readonly idempotencyKey: string;
}

export const MARKER_TABLE = "agenttx_effects";

/** Makes the table when it is missing. */
export function createMarkers(connection: SqlConnection): void {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS main.${MARKER_TABLE} (
       idempotency_key TEXT PRIMARY KEY,
       namespace TEXT NOT NULL,
       transaction_id TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('done', 'undone', 'cancelled')),
       digest TEXT,
       output TEXT,
       images TEXT
     ) WITHOUT ROWID`,
  );
}

export function readMarker(connection: SqlConnection, key: string): Marker | null {
  const [row] = connection
    .prepare(
      `SELECT state, digest, output, images FROM main.${MARKER_TABLE} WHERE idempotency_key = ?`,
    )
    .all(key);
  // The CHECK and the types of the table hold this shape.
  return row === undefined ? null : (row as Marker);
}

/** Inserts or replaces the marker of an effect. */
export function putMarker(connection: SqlConnection, of: EffectRef, marker: Marker): void {
  const { state, digest, output, images } = marker;
  connection
    .prepare(
      `INSERT INTO main.${MARKER_TABLE}
         (idempotency_key, namespace, transaction_id, state, digest, output, images)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (idempotency_key) DO UPDATE SET
         state = excluded.state, digest = excluded.digest,
         output = excluded.output, images = excluded.images`,
    )
    .run(of.idempotencyKey, of.namespace, of.transaction, state, digest, output, images);
}

export const CANCELLED: Marker = { state: "cancelled", digest: null, output: null, images: null };

/** A page of markers by key, for the sweep. */
export function markerPage(connection: SqlConnection, after: string, limit: number): EffectRef[] {
  // The query names its columns; their types are those of the table.
  return connection
    .prepare(
      `SELECT idempotency_key AS idempotencyKey, namespace, transaction_id AS "transaction"
       FROM main.${MARKER_TABLE} WHERE idempotency_key > ? ORDER BY idempotency_key LIMIT ?`,
    )
    .all(after, limit) as EffectRef[];
}

export function removeMarker(connection: SqlConnection, key: string): void {
  connection.prepare(`DELETE FROM main.${MARKER_TABLE} WHERE idempotency_key = ?`).run(key);
}
