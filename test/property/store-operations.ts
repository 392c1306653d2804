// Owns the operations that the store property draws, and how one is carried out on a store. What an
// operation answers is text, so that two stores can be compared by it.

import { isAgentTxError } from "@agenttx/model";
import type {
  BatchExtras,
  RecordKey,
  ScanRange,
  StepBatch,
  Store,
  StoreTransaction,
  Write,
} from "@agenttx/storage";
import * as fc from "fast-check";

/** Keys that are prefixes of each other, or hold separators, NUL or 0xFF; few, so that they meet. */
const KEYS: readonly Uint8Array[] = [
  Uint8Array.of(0x61),
  Uint8Array.of(0x61, 0x2f),
  Uint8Array.of(0x61, 0x00),
  Uint8Array.of(0xff, 0xff),
];
/** What stands behind the number in an id: t1, t10/ and t11| are each other's neighbours. */
const SUFFIXES = ["", "/", "|"] as const;

const RECORD_SPACES = ["output", "saga", "effect", "outbox", "request"] as const;

export interface Slots {
  store: Store;
  /** How this store is restarted. */
  readonly restart: () => Promise<Store>;
  /** Open transactions by slot. */
  readonly open: Map<number, StoreTransaction>;
  /** Every id begun so far; each is used once. */
  readonly ids: string[];
  commits: number;
  conflicts: number;
}

const slot = fc.nat({ max: SUFFIXES.length - 1 });
/** Most keys are the first one, so that transactions meet often enough. */
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat({ max: KEYS.length - 1 }) },
);
const value = fc.constantFrom("x", "y", "", null);
const writes = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 3 });
const range = fc.record({
  kind: fc.constantFrom("all", "prefix", "bounds"),
  from: key,
  to: key,
  reverse: fc.boolean(),
  limit: fc.integer({ min: 1, max: 4 }),
});

/** One operation as data; fast-check shrinks a failing list of them. */
export const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant("begin"), slot, serializable: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant("get"), slot, key, validate: fc.boolean() }),
  },
  { weight: 14, arbitrary: fc.record({ op: fc.constant("write"), slot, writes }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("scan"), slot, range }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant("snapshot"), slot, above: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("restore"),
      slot,
      below: fc.nat(2),
      again: fc.boolean(),
      word: fc.string({ maxLength: 2 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("apply"),
      slot,
      writes,
      fence: fc.constantFrom("none", "right", "owner", "attempt", "step"),
      owner: fc.nat(1),
      step: fc.nat(1),
      record: fc.constantFrom(...RECORD_SPACES),
      snapshot: fc.boolean(),
      word: fc.string({ maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("attempt"), slot }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("commit"),
      slot,
      word: fc.string({ maxLength: 2 }),
      // Otherwise transactions that can no longer commit soon fill all slots.
      giveUp: fc.nat(3).map((drawn) => drawn === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("discard"), slot, word: fc.string() }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("fork"), slot, to: slot, below: fc.nat(2) }),
  },
  // Opening a database costs more than all the rest.
  { weight: 1, arbitrary: fc.record({ op: fc.constant("reopen"), now: fc.nat(2) }) },
);

export type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const ENCODER = new TextEncoder();

function at(index: number): Uint8Array {
  return KEYS[index] ?? Uint8Array.of(0);
}

function asWrites(drawn: readonly (readonly [number, string | null])[]): Write[] {
  return drawn.map(([index, text]) => ({
    key: at(index),
    value: text === null ? null : ENCODER.encode(text),
  }));
}

function asRange(drawn: {
  kind: string;
  from: number;
  to: number;
  reverse: boolean;
  limit: number;
}): ScanRange {
  const { reverse, limit } = drawn;
  if (drawn.kind === "prefix") return { prefix: at(drawn.from), reverse, limit };
  if (drawn.kind === "bounds") return { start: at(drawn.from), end: at(drawn.to), reverse, limit };
  return { reverse, limit };
}

/** Text of any answer: bytes as hex, versions as digits. */
export function shown(answer: unknown): string {
  return JSON.stringify(answer, (_name, item: unknown) => {
    if (typeof item === "bigint") return `${item}n`;
    if (item instanceof Uint8Array) return Buffer.from(item).toString("hex");
    return item;
  });
}

/** Carries the operation out; the answer, or the code of the refusal with the keys it names. */
export async function perform(slots: Slots, drawn: Operation): Promise<string> {
  try {
    return shown((await answer(slots, drawn)) ?? "done");
  } catch (error) {
    if (!isAgentTxError(error)) throw error;
    const keys = "keys" in error ? (error.keys as readonly Uint8Array[]) : [];
    return `refused ${error.code} ${keys.map((each) => shown(each)).sort()}`;
  }
}

async function answer(slots: Slots, drawn: Operation): Promise<unknown> {
  if (drawn.op === "reopen") return drawn.now === 0 ? reopen(slots) : "not now";
  const known = slots.open.get(drawn.slot);
  if (drawn.op === "begin") return known === undefined ? begin(slots, drawn) : "occupied";
  if (known === undefined)
    await begin(slots, { op: "begin", slot: drawn.slot, serializable: false });
  const tx = known ?? slots.open.get(drawn.slot);
  if (tx === undefined) throw new Error("begin opened nothing");
  switch (drawn.op) {
    case "get":
      return tx.get(at(drawn.key), { validate: drawn.validate });
    case "write":
      return tx.write(asWrites(drawn.writes));
    case "scan":
      return tx.scan(asRange(drawn.range));
    case "snapshot":
      return tx.createSnapshot(tx.header().snapshot + drawn.above);
    case "restore":
      return restore(tx, drawn);
    case "apply":
      return tx.apply(batch(tx, drawn));
    case "attempt":
      return tx.beginAttempt();
    case "commit":
      return commit(slots, tx, drawn);
    case "discard":
      await tx.discard(ending(drawn.word));
      return slots.open.delete(drawn.slot);
    case "fork":
      return fork(slots, tx, drawn);
  }
}

function nextId(slots: Slots, index: number): string {
  const id = `t${slots.ids.length}${SUFFIXES[index]}`;
  slots.ids.push(id);
  return id;
}

async function begin(slots: Slots, drawn: Extract<Operation, { op: "begin" }>): Promise<string> {
  // One in four is serializable: half of all would make most scans refusals.
  const serializable = drawn.serializable && slots.ids.length % 2 === 0;
  const id = nextId(slots, drawn.slot);
  const tx = await slots.store.begin(id, {
    isolation: serializable ? "serializable" : "read-committed",
  });
  slots.open.set(drawn.slot, tx);
  return id;
}

async function fork(
  slots: Slots,
  tx: StoreTransaction,
  drawn: Extract<Operation, { op: "fork" }>,
): Promise<string> {
  if (slots.open.has(drawn.to)) return "occupied";
  const id = nextId(slots, drawn.to);
  const step = Math.max(0, tx.header().snapshot - drawn.below);
  slots.open.set(drawn.to, await slots.store.fork(tx.id, step, id));
  return id;
}

function restore(tx: StoreTransaction, drawn: Extract<Operation, { op: "restore" }>) {
  const step = Math.max(0, tx.header().snapshot - drawn.below);
  const word = ENCODER.encode(drawn.word);
  const again = drawn.again ? { snapshot: step + 1 } : {};
  return tx.restoreSnapshot(step, { ...again, audit: [word], payload: word });
}

function batch(tx: StoreTransaction, drawn: Extract<Operation, { op: "apply" }>): StepBatch {
  const { owner, attempt, step, snapshot } = tx.header();
  const word = ENCODER.encode(drawn.word);
  const wrong = (name: string): number => (drawn.fence === name ? 1 : 0);
  const fence = {
    owner: owner + BigInt(wrong("owner")),
    attempt: attempt + wrong("attempt"),
    step: step + wrong("step"),
  };
  return {
    ...(drawn.fence === "none" ? {} : { fence }),
    writes: asWrites(drawn.writes),
    next: { owner: owner + BigInt(drawn.owner), step: step + drawn.step },
    records: [{ ...nameIn(drawn, { step, seq: attempt + 1 }), value: word }],
    audit: [word],
    evidence: word,
    ...(drawn.snapshot ? { snapshot: snapshot + 1 } : {}),
  };
}

/** The fields that name a record in its space, and no others. */
function nameIn(
  drawn: Extract<Operation, { op: "apply" }>,
  numbers: { readonly step: number; readonly seq: number },
): RecordKey {
  const { record: space, word: name } = drawn;
  if (space === "output") return { space, step: numbers.step };
  if (space === "saga") return { space, ...numbers };
  return space === "request" ? { space, name } : { space, seq: numbers.seq };
}

function ending(word: string): BatchExtras {
  const value = ENCODER.encode(word);
  return {
    records: [{ space: "terminal", value }],
    audit: [value],
    storeAudit: [value],
  };
}

async function commit(
  slots: Slots,
  tx: StoreTransaction,
  drawn: Extract<Operation, { op: "commit" }>,
): Promise<unknown> {
  slots.commits += 1;
  try {
    const result = await tx.commit(ending(drawn.word));
    slots.open.delete(drawn.slot);
    return result;
  } catch (error) {
    if (!isAgentTxError(error) || error.code !== "WRITE_CONFLICT") throw error;
    slots.conflicts += 1;
    if (drawn.giveUp) {
      await tx.discard();
      slots.open.delete(drawn.slot);
    }
    throw error;
  }
}

async function reopen(slots: Slots): Promise<string> {
  slots.store = await slots.restart();
  for (const [index, tx] of slots.open) slots.open.set(index, await slots.store.attach(tx.id));
  return "reopened";
}
