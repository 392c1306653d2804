// Owns the terminal record: how a transaction ended, for as long as it is kept (P2, C10).
import type {
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
  readonly v: 1;
  readonly status: Ended["status"];
  readonly reason: string | null;
  /** bigint as text. `commitVersion` null: the process died before it could be added. */
  readonly commit: (Omit<CommitOutcome, "commitVersion"> & { commitVersion: string | null }) | null;
  readonly rollback: RollbackOutcome | null;
  readonly agentId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly globalResets: number;
  readonly constraints: readonly Constraint[];
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

const DECODER = new TextDecoder();

export function terminalRecord(open: OpenTransaction, ended: Ended): RecordWrite {
  const { header, engine } = open;
  return { space: "terminal", value: encode(terminalOf(header, ended, engine.clock.now())) };
}

function terminalOf(header: Header, ended: Ended, nowMs: number): TerminalRecord {
  const { commit } = ended;
  return {
    v: 1,
    status: ended.status,
    reason: ended.reason,
    commit:
      commit === null
        ? null
        : {
            ...commit,
            commitVersion: commit.commitVersion === 0n ? null : `${commit.commitVersion}`,
          },
    rollback: ended.rollback,
    agentId: header.agentId,
    metadata: header.metadata,
    globalResets: header.counters.resets,
    constraints: header.constraints,
    beganAtMs: header.beganAtMs,
    endedAtMs: nowMs,
  };
}

function encode(record: TerminalRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

export function decodeTerminal(bytes: Uint8Array): TerminalRecord {
  // Written by this file alone.
  return JSON.parse(DECODER.decode(bytes)) as TerminalRecord;
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
  const { commit } = record;
  return {
    status: record.status,
    reason: record.reason,
    commit:
      commit === null ? null : { ...commit, commitVersion: BigInt(commit.commitVersion ?? "0") },
    rollback: record.rollback,
  };
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
