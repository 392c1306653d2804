// Owns what a claim is and the words claims are written with. No test framework is imported: the
// caller hands its own in, so a driver in another repository can run the suite.

import { isAgentTxError } from "@agenttx/model";
import type { Bytes, ScanEntry, Store, StoreTransaction } from "../contract.js";

/** The part of `expect` that is used; that of vitest, jest and chai-jest fits. */
export type Expect = (value: unknown) => {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
};

/** The part of a test framework that is used. */
export interface TestFramework {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  readonly expect: Expect;
}

/** How to get a driver: each claim gets an empty store of its own. */
export interface StoreFactory {
  /** Shown in the name of the suite. */
  readonly name: string;
  open(): Promise<{
    readonly store: Store;
    /**
     * Ends the store as a restart of the process would and opens the same data again. Omitted:
     * `store.reopen()` is used.
     */
    readonly reopen?: () => Promise<Store>;
    cleanup(): Promise<void> | void;
  }>;
}

export interface World {
  readonly store: Store;
  readonly expect: Expect;
  /** The store after a restart; use what it returns instead of `store`. */
  restart(): Promise<Store>;
}

/** Title -> proof. The title is a claim about every driver. */
export type Claims = Readonly<Record<string, (world: World) => Promise<void>>>;

const ENCODER = new TextEncoder();

export function bytes(text: string): Bytes {
  return ENCODER.encode(text);
}

/** Text of bytes, or null. */
export function text(value: Bytes | null): string | null {
  return value === null ? null : new TextDecoder().decode(value);
}

/** `key=value` of each entry, in order. */
export function shown(entries: readonly ScanEntry[]): string[] {
  return entries.map(({ key, value }) => `${text(key)}=${text(value)}`);
}

/** Code of the refusal, `null` when the call went through; another error is thrown on. */
export async function refusal(call: () => Promise<unknown>): Promise<string | null> {
  try {
    await call();
  } catch (error) {
    if (isAgentTxError(error)) return error.code;
    throw error;
  }
  return null;
}

/** Commits `entries` in a transaction of its own; null deletes. */
export async function publish(
  store: Store,
  entries: Readonly<Record<string, string | null>>,
  namespace = "",
): Promise<bigint> {
  publications += 1;
  const tx = await store.begin(`publisher-${publications}`, { namespace });
  for (const [key, value] of Object.entries(entries)) {
    if (value === null) await tx.delete(key);
    else await tx.put(key, bytes(value));
  }
  return (await tx.commit()).commitVersion;
}

let publications = 0;

/** Everything one can see of a transaction from outside, as text; to compare before and after. */
export async function fingerprint(store: Store, tx: StoreTransaction): Promise<string> {
  const header = tx.header();
  const records = [];
  for (const space of ["output", "saga", "effect", "outbox", "request", "terminal"] as const) {
    for (const row of await store.scanRecords(space, {
      transaction: tx.id,
      namespace: tx.namespace,
    })) {
      records.push([space, row.step, row.seq, row.name, text(row.value)]);
    }
  }
  const audit = await store.readAudit(tx.id, { namespace: tx.namespace });
  return JSON.stringify({
    state: shown(await tx.scan()),
    header: { ...header, incarnation: 0, owner: `${header.owner}`, payload: text(header.payload) },
    records,
    audit: audit.map(({ seq, payload }) => [seq, text(payload)]),
  });
}
