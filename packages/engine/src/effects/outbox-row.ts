// Owns the rows of space `outbox`: one per effect that is to be delivered, removed when it is.

import { decodeRecord, encodeRecord } from "@agenttx/ledger";
import type { RecordWrite, Store } from "@agenttx/model";
import { pageRecords } from "../record-pages.js";
import type { EffectName } from "./contract.js";

export interface OutboxRow {
  /** Tries that were begun, so that a crash in one of them counts. */
  readonly failedTries: number;
  readonly nextAtMs: number;
  /** Set aside until a person or the return of its tool moves it on; later rows pass it. */
  readonly parked: boolean;
}

export type OutboxEntry = EffectName & OutboxRow;

export function putRow(seq: number, row: OutboxRow): RecordWrite {
  const { failedTries, nextAtMs, parked } = row;
  const value = encodeRecord({ failedTries, nextAtMs, parked });
  return { space: "outbox", seq, value };
}

export function removeRow(seq: number): RecordWrite {
  return { space: "outbox", seq, value: null };
}

/** Rows of one transaction, or of all of a namespace, in the order of their effects. */
export async function* outboxRows(
  store: Store,
  range: { readonly namespace: string; readonly transaction: string | null },
): AsyncGenerator<OutboxEntry, void, undefined> {
  for await (const { transaction, seq, value } of pageRecords(store, "outbox", range)) {
    yield { transaction, namespace: range.namespace, seq, ...readRow(value) };
  }
}

/** A damaged row is still to be delivered: the effect's record holds everything that is sent. */
function readRow(value: Uint8Array): OutboxRow {
  let members: Record<string, unknown> = {};
  try {
    members = decodeRecord(value, "outbox row");
  } catch {
    // Treated as never tried, see above.
  }
  const { failedTries, nextAtMs, parked } = members;
  return {
    failedTries: typeof failedTries === "number" ? failedTries : 0,
    nextAtMs: typeof nextAtMs === "number" ? nextAtMs : 0,
    parked: parked === true,
  };
}
