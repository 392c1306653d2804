// Owns the payload that the engine keeps in a transaction's header, opaque to storage.
//
//   I1 Bounded: policy, counters, at most `constraintsMax` constraints, one pending rollback.
//      Nothing grows with the number of steps, so a step need not write it at all.
//   I2 What a crash must not lose stands here or in records; nothing in memory alone decides.
import {
  AgentTxError,
  type CleanHint,
  type Constraint,
  type RollbackCounters,
  type RollbackDecision,
  type RollbackPolicy,
} from "@agenttx/model";
import type { EffectCounters } from "./effects/contract.js";

/** Why state has to go back, durable before anything is undone. */
export interface PendingRollback {
  /**
   * `decision`: the policy decided. `undecided`: the effect of the failed step is indeterminate,
   * and the policy is asked once it is known (E5). `manual`: rollback(n). `resume`: the step that
   * a crash interrupted is undone. `abort`: everything.
   */
  readonly kind: "decision" | "undecided" | "manual" | "resume" | "abort";
  readonly step: number;
  readonly tool: string | null;
  /** Steps from here on are undone; 0 = the initial state. */
  readonly target: number;
  readonly hint: CleanHint | null;
  readonly decision: RollbackDecision | null;
  /** Set while a reported failure waits: the last step that ran (R9a). */
  readonly lastStep: number | null;
  /** Recorded arguments of the failed step, so that the policy can be asked after a restart. */
  readonly argsText: string | null;
  readonly request: { readonly id: string; readonly digest: string } | null;
  readonly reason: string | null;
  /** Status of an abort when it is complete. */
  readonly endStatus: "FAILED" | "ROLLED_BACK";
  readonly compensationsRun: number;
}

export interface Header {
  readonly agentId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly policy: RollbackPolicy;
  readonly isolation: "read-committed" | "serializable";
  readonly beganAtMs: number;
  readonly status: "ACTIVE" | "ROLLING_BACK" | "FROZEN";
  readonly counters: RollbackCounters;
  readonly constraints: readonly Constraint[];
  readonly effects: EffectCounters;
  /** Attempt group (E3): grows with every rewind, so a repeated step gets a new key. */
  readonly group: number;
  readonly manualRollbacks: number;
  readonly infrastructureFailures: number;
  readonly pending: PendingRollback | null;
  /** Written by a clean shutdown, removed when the transaction is resumed (C8). */
  readonly cleanShutdown: boolean;
  /** The workflow whose revision this is (C1); its recovery, not the engine's, takes it back. */
  readonly workflow?: string;
  /** Fenced by its workflow's recovery: nothing runs in it any more (C3). */
  readonly held?: boolean;
  readonly updatedAtMs: number;
}

const VERSION = 1;
const DECODER = new TextDecoder("utf-8", { fatal: true });

export function newHeader(
  begin: Pick<Header, "agentId" | "metadata" | "policy" | "isolation" | "counters">,
  nowMs: number,
): Header {
  // Named one by one: objects made by a spread each get a hidden class of their own in V8, which
  // takes more memory than the header.
  const { agentId, metadata, policy, isolation, counters } = begin;
  return {
    agentId,
    metadata,
    policy,
    isolation,
    counters,
    beganAtMs: nowMs,
    status: "ACTIVE",
    constraints: [],
    effects: { effectSeq: 1, undoSeq: 1 },
    group: 1,
    manualRollbacks: 0,
    infrastructureFailures: 0,
    pending: null,
    cleanShutdown: false,
    updatedAtMs: nowMs,
  };
}

export function encodeHeader(header: Header): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, ...header }));
}

/** Throws STORE_CORRUPT for bytes that are no header, FORMAT_TOO_NEW for a later version. */
export function decodeHeader(transaction: string, payload: Uint8Array): Header {
  const header = readHeader(transaction, payload);
  if (header.v !== VERSION) {
    throw new AgentTxError(
      "FORMAT_TOO_NEW",
      `Transaction ${transaction} was written by a later version; it is left as it is.`,
      { details: { transaction, version: Number(header.v ?? 0), supported: VERSION } },
    );
  }
  const { v: _version, ...fields } = header;
  return fields;
}

function readHeader(transaction: string, payload: Uint8Array): Header & { v?: unknown } {
  try {
    const parsed: unknown = JSON.parse(DECODER.decode(payload));
    if (typeof parsed === "object" && parsed !== null && "v" in parsed && "counters" in parsed) {
      // Written by encodeHeader alone, in the same batch as what it describes.
      return parsed as Header & { v?: unknown };
    }
  } catch {
    // Reported below, with the transaction that it concerns.
  }
  throw new AgentTxError(
    "STORE_CORRUPT",
    `The header of transaction ${transaction} cannot be read; the transaction is left as it is.`,
    { details: { transaction } },
  );
}
