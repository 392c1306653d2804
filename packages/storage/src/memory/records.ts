// Owns records beside the state: which fields name one in each space, their order, and what ending
// a transaction removes.

import { AgentTxError } from "@agenttx/model";
import type {
  Bytes,
  CommitBatch,
  RecordEntry,
  RecordKey,
  RecordSpace,
  RecordWrite,
} from "../contract.js";
import { checkValue, recordNameBytes, wholeNumber } from "../keys.js";
import type { NamespaceState, RecordState } from "./state.js";
import { toHex } from "./state.js";

const STEP_MAX = 0xffff_ffff;

/** The fields that name a record in its space; others given are ignored. */
const FIELDS = {
  output: ["step"],
  saga: ["step", "seq"],
  effect: ["seq"],
  outbox: ["seq"],
  request: ["name"],
  terminal: [],
  late: ["seq"],
  meta: ["name"],
} as const satisfies Record<RecordSpace, readonly ("step" | "seq" | "name")[]>;

/** Removed when a transaction ends (S7). Everything else outlives it. */
export const REMOVED_BY_COMMIT: readonly RecordSpace[] = ["output", "saga"];
export const REMOVED_BY_DISCARD: readonly RecordSpace[] = ["output"];

interface Name {
  readonly step: number;
  readonly seq: number;
  readonly name: string;
}

/** Throws INVALID_ARGUMENT for a space that does not exist. */
function fieldsOf(space: RecordSpace): readonly string[] {
  if (Object.hasOwn(FIELDS, space)) return FIELDS[space];
  throw new AgentTxError("INVALID_ARGUMENT", `There is no record space ${String(space)}.`);
}

function nameOf(key: RecordKey): Name {
  const fields = fieldsOf(key.space);
  const step = wholeNumber(key.step ?? 0, "step of the record", 0, STEP_MAX);
  const seq = wholeNumber(key.seq ?? 0, "seq of the record", 0, Number.MAX_SAFE_INTEGER);
  recordNameBytes(key.name ?? "");
  return {
    step: fields.includes("step") ? step : 0,
    seq: fields.includes("seq") ? seq : 0,
    name: fields.includes("name") ? (key.name ?? "") : "",
  };
}

/** Text whose order is the order of records within one transaction and space. */
function sortKey({ step, seq, name }: Name): string {
  const number = (value: number): string => value.toString(16).padStart(14, "0");
  return `${number(step)}/${number(seq)}/${toHex(Buffer.from(name, "utf8"))}`;
}

function shelf(space: RecordSpace, transaction: string): string {
  return JSON.stringify([space, space === "meta" ? "" : transaction]);
}

/** Throws before anything is written when one record is not well-formed (K3). */
export function checkRecords(records: readonly RecordWrite[]): void {
  for (const record of records) {
    nameOf(record);
    if (record.value !== null) checkValue(record.value);
  }
}

/** REQUIRES: `checkRecords` passed. */
export function putRecords(
  namespace: NamespaceState,
  transaction: string,
  records: readonly RecordWrite[],
): void {
  for (const record of records) {
    const name = nameOf(record);
    const at = shelf(record.space, transaction);
    const rows = namespace.records.get(at) ?? new Map<string, RecordState>();
    if (record.value === null) rows.delete(sortKey(name));
    else rows.set(sortKey(name), { ...name, value: new Uint8Array(record.value) });
    if (rows.size === 0) namespace.records.delete(at);
    else namespace.records.set(at, rows);
  }
}

/** The records with the version of their commit in front of their values. */
export function stamp(
  records: NonNullable<CommitBatch["stamped"]>,
  version: bigint,
): RecordWrite[] {
  return records.map((record) => {
    const value = Buffer.alloc(8 + record.value.length);
    value.writeBigUInt64BE(version);
    value.set(record.value, 8);
    return { ...record, value };
  });
}

export function getRecord(
  namespace: NamespaceState,
  transaction: string,
  key: RecordKey,
): Bytes | null {
  const row = namespace.records.get(shelf(key.space, transaction))?.get(sortKey(nameOf(key)));
  return row === undefined ? null : new Uint8Array(row.value);
}

/** Removes the outputs of `fromStep` and later: what a restore takes back (S4). */
export function dropOutputs(namespace: NamespaceState, transaction: string, fromStep: number) {
  const rows = namespace.records.get(shelf("output", transaction));
  for (const [key, row] of rows ?? []) if (row.step >= fromStep) rows?.delete(key);
}

export function dropSpaces(
  namespace: NamespaceState,
  transaction: string,
  spaces: readonly RecordSpace[],
): void {
  for (const space of spaces) namespace.records.delete(shelf(space, transaction));
}

/** Stores late evidence under the next free number of the transaction (E6). */
export function putEvidence(namespace: NamespaceState, transaction: string, value: Bytes): void {
  const rows = namespace.records.get(shelf("late", transaction));
  const last = Math.max(0, ...Array.from(rows?.values() ?? [], (row) => row.seq));
  putRecords(namespace, transaction, [{ space: "late", seq: last + 1, value }]);
}

/** Text whose order is that of names: length of the UTF-8 first, then its bytes. */
export function encodedName(name: string): string {
  const bytes = Buffer.from(name, "utf8");
  return `${bytes.length.toString(16).padStart(2, "0")}${toHex(bytes)}`;
}

/**
 * Records of one space, by transaction id (`encodedName`), then by their key. Outputs are refused
 * for all transactions at once with INVALID_ARGUMENT.
 */
export function listRecords(
  namespace: NamespaceState,
  space: RecordSpace,
  range: {
    readonly transaction: string | null;
    readonly fromStep: number;
    readonly after: RecordEntry | undefined;
    readonly limit: number;
  },
): RecordEntry[] {
  fieldsOf(space);
  if (space === "output" && range.transaction === null) {
    throw new AgentTxError("INVALID_ARGUMENT", "Outputs are listed one transaction at a time.");
  }
  const position = (transaction: string, name: Name): string =>
    `${encodedName(transaction)}/${sortKey(name)}`;
  const found: { readonly at: string; readonly entry: RecordEntry }[] = [];
  for (const [at, rows] of namespace.records) {
    const [rowSpace, transaction] = JSON.parse(at) as [RecordSpace, string];
    if (rowSpace !== space) continue;
    if (range.transaction !== null && space !== "meta" && transaction !== range.transaction)
      continue;
    for (const row of rows.values()) {
      if (row.step < range.fromStep) continue;
      found.push({
        at: position(transaction, row),
        entry: { transaction, ...row, value: new Uint8Array(row.value) },
      });
    }
  }
  found.sort((one, other) => (one.at < other.at ? -1 : 1));
  const after = range.after === undefined ? "" : position(range.after.transaction, range.after);
  return found
    .filter((row) => row.at > after)
    .slice(0, range.limit)
    .map((row) => row.entry);
}
