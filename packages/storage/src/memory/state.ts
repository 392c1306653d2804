// Owns the shape of everything the memory store remembers, and the copies that make snapshots.
//
//   M1 A map, once held by a snapshot, is never changed again: writers copy it first.
//   M2 What a batch acknowledged is in `TransactionState`; what is only in memory in a real driver
//      (reads since the last batch, a raised attempt) is in `volatile` and goes with `reopen()`.

import type { Bytes } from "../contract.js";

/** Hex of key bytes: its order as text is the byte order of the key. */
export type Hex = string;

export interface Committed {
  readonly value: Bytes;
  readonly version: bigint;
}

/** What a transaction knows of a key in committed state (S6). Version 0n = absent. */
export interface Base {
  readonly version: bigint;
  /** The transaction read committed state here, not only wrote. */
  readonly read: boolean;
  readonly validate: boolean;
}

/** Overlay, base versions and journal position at one moment. */
export interface View {
  readonly overlay: ReadonlyMap<Hex, Bytes | null>;
  readonly bases: ReadonlyMap<Hex, Base>;
  /** Bytes of the overlay's keys and values. */
  readonly bytes: number;
  /** How many writes had been made: a position in `TransactionState.writes`. */
  readonly writeCount: number;
}

export interface TransactionState {
  readonly id: string;
  readonly namespace: string;
  readonly serializable: boolean;
  readonly bytesMax: number;
  readonly keysMax: number;
  owner: bigint;
  attempt: number;
  step: number;
  payload: Bytes;
  overlay: Map<Hex, Bytes | null>;
  bases: Map<Hex, Base>;
  bytes: number;
  /** Key of each write since begin, one entry a write. */
  writes: Hex[];
  /** By step, in rising order; the last one is the newest. */
  snapshots: Map<number, View>;
  /** True while a snapshot holds `overlay` and `bases` as they are (M1). */
  held: boolean;
  volatile: { reads: Map<Hex, Base>; attempt: number };
  ended: boolean;
}

export interface RecordState {
  readonly step: number;
  readonly seq: number;
  readonly name: string;
  readonly value: Bytes;
}

/** One namespace: nothing of it can be reached from another. */
export interface NamespaceState {
  readonly name: string;
  readonly committed: Map<Hex, Committed>;
  readonly transactions: Map<string, TransactionState>;
  /** By space and transaction id, then by record key. */
  readonly records: Map<string, Map<string, RecordState>>;
  readonly chains: Map<string, AuditState[]>;
}

export interface AuditState {
  readonly payload: Bytes;
  readonly hash: Bytes;
}

export function newNamespace(name: string): NamespaceState {
  return {
    name,
    committed: new Map(),
    transactions: new Map(),
    records: new Map(),
    chains: new Map(),
  };
}

export function toHex(bytes: Bytes): Hex {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

export function fromHex(hex: Hex): Bytes {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

/** Takes a snapshot under `step`. REQUIRES: `step` is above the newest one. */
export function takeSnapshot(state: TransactionState, step: number): void {
  state.snapshots.set(step, {
    overlay: state.overlay,
    bases: state.bases,
    bytes: state.bytes,
    writeCount: state.writes.length,
  });
  state.held = true;
}

/** Makes overlay and bases the transaction's own again, before a change (M1). */
export function ownMaps(state: TransactionState): void {
  if (!state.held) return;
  state.overlay = new Map(state.overlay);
  state.bases = new Map(state.bases);
  state.held = false;
}

/** Moves the reads made since the last batch into what is kept (M2). */
export function keepReads(state: TransactionState): void {
  if (state.volatile.reads.size === 0) return;
  ownMaps(state);
  for (const [key, base] of state.volatile.reads) state.bases.set(key, base);
  state.volatile.reads.clear();
}

/** What the transaction knows of every key that it has touched. */
export function knownBases(state: TransactionState): ReadonlyMap<Hex, Base> {
  return new Map([...state.bases, ...state.volatile.reads]);
}

/** Distinct keys that were read from committed state. */
export function countReads(state: TransactionState): number {
  return [...knownBases(state).values()].filter(({ read }) => read).length;
}

/** Newest snapshot; there is always one (S3). */
export function newestSnapshot(state: TransactionState): number {
  return Math.max(...state.snapshots.keys());
}
