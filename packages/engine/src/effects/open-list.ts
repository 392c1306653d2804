// Owns the list of effects that wait for a person or a retry: one small record each in space
// `meta`, so that finding them reads nothing else (E8, C12).
//
//   O1 An effect is listed exactly while its record's `waitsFor` is not null; both change in one
//      batch.
//   O2 The order of names is the order of age: `unresolved/{createdAtMs}/{transaction}/{seq}`.

import { decodeRecord, effectSeqOf, encodeRecord } from "@agenttx/ledger";
import type { EffectRecord, RecordWrite, Store } from "@agenttx/model";
import { pageRecords } from "../record-pages.js";
import type { EffectName } from "./contract.js";

const PREFIX = "unresolved/";
const DIGITS = 16;

/** When it is tried next. Null: only a person, or the return of its tool, moves it on. */
export interface Listing {
  readonly failedTries: number;
  readonly nextAtMs: number | null;
}

export interface OpenEntry extends EffectName, Listing {
  readonly createdAtMs: number;
  readonly tool: string;
  readonly waitsFor: string;
}

/** The name of an effect's entry; derived from members that never change. */
export function openName(effect: EffectRecord): string {
  const seq = padded(effectSeqOf(effect.effectId));
  return `${agePrefix(effect.createdAtMs)}${encodeURIComponent(effect.transaction)}/${seq}`;
}

export function putOpen(effect: EffectRecord, listing: Listing): RecordWrite {
  const value = encodeRecord({ ...listing, tool: effect.tool, waitsFor: effect.waitsFor });
  return { space: "meta", name: openName(effect), value };
}

export function removeOpen(effect: EffectRecord): RecordWrite {
  return { space: "meta", name: openName(effect), value: null };
}

/**
 * Entries of one namespace, oldest first. `from`: entries at or after this age and, when a
 * transaction and seq are given, after that entry.
 */
export async function* openEntries(
  store: Store,
  namespace: string,
  from: { readonly afterName: string } | null = null,
): AsyncGenerator<OpenEntry, void, undefined> {
  const afterName = from?.afterName ?? PREFIX;
  for await (const row of pageRecords(store, "meta", { namespace, afterName })) {
    if (!row.name.startsWith(PREFIX)) return;
    const named = readName(row.name);
    if (named === null) continue;
    yield { ...named, namespace, ...readListing(row.value) };
  }
}

/** A position before every entry of this age; with `past`, after every one of it. */
export function agePosition(createdAtMs: number, past: boolean): string {
  // "0" follows "/" in byte order, so it lies past all names of this age and before the next age.
  return past ? `${agePrefix(createdAtMs).slice(0, -1)}0` : agePrefix(createdAtMs);
}

function agePrefix(createdAtMs: number): string {
  return `${PREFIX}${padded(Math.max(0, Math.trunc(createdAtMs)))}/`;
}

function padded(value: number): string {
  return `${value}`.padStart(DIGITS, "0");
}

function readName(name: string): (Omit<EffectName, "namespace"> & { createdAtMs: number }) | null {
  const [age, transaction, seq, ...rest] = name.slice(PREFIX.length).split("/");
  if (age === undefined || transaction === undefined || seq === undefined || rest.length > 0) {
    return null;
  }
  try {
    return {
      createdAtMs: Number(age),
      transaction: decodeURIComponent(transaction),
      seq: Number(seq),
    };
  } catch {
    // Not one of our names.
    return null;
  }
}

/** A damaged entry counts as due now: the effect record itself says what to do. */
function readListing(value: Uint8Array): Listing & { tool: string; waitsFor: string } {
  let members: Record<string, unknown> = {};
  try {
    members = decodeRecord(value, "entry of the unresolved list");
  } catch {
    // Treated as due, see above.
  }
  const { failedTries, nextAtMs, tool, waitsFor } = members;
  return {
    failedTries: typeof failedTries === "number" ? failedTries : 0,
    nextAtMs: typeof nextAtMs === "number" || nextAtMs === null ? nextAtMs : 0,
    tool: typeof tool === "string" ? tool : "",
    waitsFor: typeof waitsFor === "string" ? waitsFor : "retry",
  };
}
