// Owns the terminal record: how a transaction ended, for as long as it is kept (P2, C10).
//
//   F1 Its bytes are JSON; in front of a commit's stands the commit version, u64 big-endian. The
//      store puts it there in the batch of the commit itself, so that a repeat knows it whatever
//      died after the commit. The first byte tells: `{`, or that of a version (below 2^56).
//   F2 `v` 1 had the version inside the JSON, or null when the process died too early.
import type {
  CommitBatch,
  CommitOutcome,
  Constraint,
  RecordWrite,
  RollbackOutcome,
  Store,
  TransactionView,
} from "@agenttx/model";
import type { Header } from "./header.js";
import type { Ended, OpenTransaction } from "./state.js";

export interface TerminalRecord {
  readonly v: 1 | 2;
  readonly status: Ended["status"];
  readonly reason: string | null;
  readonly commit: CommitOutcome | null;
  readonly rollback: RollbackOutcome | null;
  readonly agentId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly globalResets: number;
  readonly constraints: readonly Constraint[];
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

/** What stands in the JSON: no bigint. */
interface StoredTerminal extends Omit<TerminalRecord, "commit"> {
  readonly commit:
    | (Omit<CommitOutcome, "commitVersion"> & { readonly commitVersion?: string | null })
    | null;
}

const DECODER = new TextDecoder();
const VERSION_BYTES = 8;
const OPENING_BRACE = 0x7b;

/** Without a version in front: for an end that is no commit, or to be stamped by the commit. */
export function terminalRecord(open: OpenTransaction, ended: Ended): Stamped {
  const { header, engine } = open;
  const record = terminalOf(header, ended, engine.clock.now());
  return { space: "terminal", value: Buffer.from(JSON.stringify(record)) };
}

type Stamped = NonNullable<CommitBatch["stamped"]>[number];

/** The record of a commit that has its version, for another write after it. */
export function committedRecord(open: OpenTransaction, ended: Ended): RecordWrite {
  const { space, value } = terminalRecord(open, ended);
  const version = Buffer.alloc(VERSION_BYTES);
  version.writeBigUInt64BE(ended.commit?.commitVersion ?? 0n);
  return { space, value: Buffer.concat([version, value]) };
}

function terminalOf(header: Header, ended: Ended, nowMs: number): StoredTerminal {
  return {
    v: 2,
    status: ended.status,
    reason: ended.reason,
    commit: ended.commit === null ? null : withoutVersion(ended.commit),
    rollback: ended.rollback,
    agentId: header.agentId,
    metadata: header.metadata,
    globalResets: header.counters.resets,
    constraints: header.constraints,
    beganAtMs: header.beganAtMs,
    endedAtMs: nowMs,
  };
}

function withoutVersion({ commitVersion: _stamped, ...commit }: CommitOutcome) {
  return commit;
}

export function decodeTerminal(bytes: Uint8Array): TerminalRecord {
  const isStamped = bytes[0] !== OPENING_BRACE;
  const json = isStamped ? bytes.subarray(VERSION_BYTES) : bytes;
  // Written by this file alone.
  const { commit, ...stored } = JSON.parse(DECODER.decode(json)) as StoredTerminal;
  if (commit === null) return { ...stored, commit };
  const version = isStamped ? readVersion(bytes) : BigInt(commit.commitVersion ?? "0");
  return { ...stored, commit: { ...commit, commitVersion: version } };
}

function readVersion(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, VERSION_BYTES).getBigUint64(0);
}

export async function readTerminal(
  store: Store,
  id: string,
  namespace: string,
): Promise<TerminalRecord | null> {
  const bytes = await store.readRecord(id, { space: "terminal", namespace });
  return bytes === null ? null : decodeTerminal(bytes);
}

export function endedOf(record: TerminalRecord): Ended {
  const { status, reason, commit, rollback } = record;
  return { status, reason, commit, rollback };
}

export function terminalView(
  id: string,
  record: TerminalRecord,
  unresolvedEffects: readonly string[],
): TransactionView {
  return {
    id,
    agentId: record.agentId,
    metadata: record.metadata,
    status: record.status,
    nextStep: 0,
    stepsCommitted: record.commit?.stepsCommitted ?? 0,
    globalResets: record.globalResets,
    constraints: record.constraints,
    context: [],
    unresolvedEffects,
    abortReason: record.reason,
    beganAtMs: record.beganAtMs,
    updatedAtMs: record.endedAtMs,
  };
}
