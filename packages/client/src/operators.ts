// Owns the calls of operators: lists, ledger, reconciliation, audit.

import type { EffectRecord, JsonValue, ResolutionKind, TransactionStatus } from "@agenttx/model";
import {
  agentTxService,
  effectFromWire,
  type effects,
  statusFromWire,
  type transactions,
} from "@agenttx/wire";
import type { ReadStream } from "./read-stream.js";
import type { CallOptions } from "./transport.js";
import type { UnaryCaller } from "./unary-transport.js";

export interface TransactionSummary {
  readonly id: string;
  readonly agentId: string;
  readonly status: TransactionStatus;
  readonly nextStep: number;
  readonly globalResets: number;
  readonly unresolvedEffects: number;
  readonly stepsCommitted: number;
  readonly beganAtMs: number;
  readonly updatedAtMs: number;
}

/** One entry of a story: the fields of its kind are those of the embedded engine's history. */
export interface HistoryEntry {
  readonly kind: string;
  readonly seq: number;
  readonly atMs: number;
  readonly step: number;
  readonly [field: string]: JsonValue;
}

export interface Resolution {
  readonly kind: ResolutionKind;
  /** Taken from the token when the server authenticates. */
  readonly actor?: string;
  readonly note: string;
}

/** In the order of ids, which is by age; at most `limit` (default 100). */
export async function listTransactions(
  caller: UnaryCaller,
  options: { readonly statuses?: readonly TransactionStatus[]; readonly limit?: number },
): Promise<readonly TransactionSummary[]> {
  const { statuses = [], limit = 100 } = options;
  return pages(limit, async (pageSize, pageToken) => {
    const request = { statuses: [...statuses], pageSize, pageToken };
    const page = await caller.call(agentTxService.listTransactions, request);
    return { found: page.transactions.map(summaryFromWire), next: page.nextPageToken };
  });
}

export async function listEffects(
  caller: UnaryCaller,
  transactionId: string,
): Promise<readonly EffectRecord[]> {
  return pages(Number.POSITIVE_INFINITY, async (pageSize, pageToken) => {
    const request = { transactionId, pageSize, pageToken };
    const page = await caller.call(agentTxService.listEffects, request);
    return { found: page.effects.map(effectFromWire), next: page.nextPageToken };
  });
}

/** Oldest first. */
export async function listUnresolved(
  caller: UnaryCaller,
  limit: number,
): Promise<readonly EffectRecord[]> {
  return pages(limit, async (pageSize, pageToken) => {
    const page = await caller.call(agentTxService.listReconciliation, {
      pageSize,
      pageToken,
      workflowId: "",
    });
    return { found: page.effects.map(effectFromWire), next: page.nextPageToken };
  });
}

export async function resolveEffect(
  caller: UnaryCaller,
  effectId: string,
  { kind, actor = "", note }: Resolution,
  options: CallOptions = {},
): Promise<EffectRecord> {
  const request = { effectId, kind, actor, note };
  const { effect } = await caller.call(agentTxService.resolveEffect, request, options);
  return effectFromWire(effect as effects.Effect);
}

const PAGE = 500;

/** Reads pages until `limit` or the end. */
export async function pages<Found>(
  limit: number,
  read: (size: number, token: string) => Promise<{ found: readonly Found[]; next: string }>,
): Promise<readonly Found[]> {
  const all: Found[] = [];
  let token = "";
  do {
    const { found, next } = await read(Math.min(PAGE, limit - all.length), token);
    all.push(...found);
    token = next;
  } while (token !== "" && all.length < limit);
  return all;
}

function summaryFromWire(message: transactions.TransactionSummary): TransactionSummary {
  return {
    id: message.transactionId,
    agentId: message.agentId,
    status: statusFromWire(message.status),
    nextStep: message.nextStepId,
    globalResets: message.globalResets,
    unresolvedEffects: message.unresolvedEffects,
    stepsCommitted: message.stepsCommitted,
    beganAtMs: Number(message.beganAtMs),
    updatedAtMs: Number(message.updatedAtMs),
  };
}

/** What ran, what was undone and why, from the audit chain; calls no tool. */
export async function readHistory(
  read: ReadStream,
  transactionId: string,
): Promise<readonly HistoryEntry[]> {
  const request = { transactionId, fromSeq: 0n, history: true };
  const entries = await read(agentTxService.getAudit, request);
  return entries.map(({ payloadJson }) => JSON.parse(payloadJson) as HistoryEntry);
}
