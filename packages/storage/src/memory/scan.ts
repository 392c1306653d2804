// Owns range reads: committed state and overlay merged in byte order (S5).

import { limits } from "@agenttx/model";
import type { Bytes, ScanEntry } from "../contract.js";
import type { NormalRange } from "../keys.js";
import type { Committed, Hex } from "./state.js";
import { fromHex, toHex } from "./state.js";

export interface Visible {
  readonly entry: ScanEntry;
  readonly hex: Hex;
  /** The entry comes from committed state, not from the overlay. */
  readonly committed: boolean;
}

/** Entries of the range; at most `limit`, and it stops once 16 MiB are reached. */
export function scanMerged(
  committed: ReadonlyMap<Hex, Committed>,
  overlay: ReadonlyMap<Hex, Bytes | null>,
  range: NormalRange,
): Visible[] {
  const start = toHex(range.start);
  const end = range.end === null ? null : toHex(range.end);
  const keys = [...new Set([...committed.keys(), ...overlay.keys()])]
    .filter((key) => key >= start && (end === null || key < end))
    .sort();
  if (range.reverse) keys.reverse();
  const found: Visible[] = [];
  let bytes = 0;
  for (const hex of keys) {
    if (found.length === range.limit || bytes >= limits.SCAN_BYTES_MAX) break;
    const own = overlay.get(hex);
    const value = own === undefined ? committed.get(hex)?.value : own;
    if (value === undefined || value === null) continue;
    found.push({
      hex,
      committed: own === undefined,
      entry: { key: fromHex(hex), value: new Uint8Array(value) },
    });
    bytes += hex.length / 2 + value.byteLength;
  }
  return found;
}
