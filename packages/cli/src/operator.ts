// Owns where operators' commands work: on a data directory (this process opens it), or on a running
// server (`--server`), with the same questions and answers.

import type { HistoryEntry } from "@agenttx/engine";
import {
  type EffectRecord,
  isAgentTxError,
  type ResolutionKind,
  type RevisionEntry,
  type RollbackOutcome,
  type TransactionStatus,
  type TransactionView,
} from "@agenttx/model";
import { createRecovery } from "@agenttx/recovery";
import { connect, type ServerOptions } from "./remote.js";
import { openSession } from "./session.js";

/** What a list shows of one transaction; both places know at least this. */
export interface ListedTransaction {
  readonly id: string;
  readonly agentId: string;
  readonly status: TransactionStatus;
  readonly nextStep: number;
  readonly stepsCommitted: number;
  readonly globalResets: number;
  readonly beganAtMs: number;
  readonly updatedAtMs: number;
}

/** A workflow's revisions in their order, each with its history. */
export type Story = readonly (RevisionEntry & { readonly history: readonly HistoryEntry[] })[];

export interface Operator {
  list(limit: number): Promise<readonly ListedTransaction[]>;
  get(id: string): Promise<TransactionView>;
  /** From the audit alone (C13); null when it knows no such transaction. */
  history(id: string): Promise<readonly HistoryEntry[] | null>;
  /** Null when there is no such workflow. */
  story(workflow: string): Promise<Story | null>;
  unresolved(): Promise<readonly EffectRecord[]>;
  resolve(
    effectId: string,
    resolution: { readonly kind: ResolutionKind; readonly actor: string; readonly note: string },
  ): Promise<EffectRecord>;
  rollback(id: string, toStep: number): Promise<RollbackOutcome>;
  abort(id: string, reason: string): Promise<RollbackOutcome>;
  close(): Promise<void>;
}

export interface OperatorOptions {
  readonly dataDirectory: string;
  /** Undefined: the data directory. */
  readonly server?: ServerOptions;
  /** For undo in this process; a server has its own. */
  readonly tools?: readonly string[];
  readonly filesRoot?: string;
}

export async function openOperator(options: OperatorOptions): Promise<Operator> {
  return options.server === undefined ? onDirectory(options) : onServer(options.server);
}

async function onDirectory(options: OperatorOptions): Promise<Operator> {
  const { dataDirectory, tools, filesRoot } = options;
  const { engine, store, close } = await openSession({
    dataDirectory,
    ...(tools === undefined ? {} : { tools }),
    ...(filesRoot === undefined ? {} : { filesRoot }),
  });
  return {
    list: (limit) => engine.list({ limit }),
    get: (id) => engine.get(id),
    history: async (id) => {
      const entries = await engine.history(id);
      return entries.length === 0 ? null : entries;
    },
    story: async (id) =>
      (await orNull(createRecovery({ engine, store }).explain(id)))?.revisions ?? null,
    unresolved: () => engine.unresolved(),
    resolve: (effectId, resolution) => engine.resolveEffect(effectId, resolution),
    rollback: async (id, toStep) => (await engine.resume(id)).rollback(toStep),
    abort: async (id, reason) => (await engine.resume(id)).abort(reason),
    close,
  };
}

async function onServer(server: ServerOptions): Promise<Operator> {
  const client = await connect(server);
  return {
    list: (limit) => client.list({ limit }),
    get: (id) => client.get(id),
    // Made by the server from the same types.
    history: (id) => orNull(client.history(id)) as Promise<readonly HistoryEntry[] | null>,
    story: async (id) =>
      ((await orNull(client.recovery.explain(id)))?.revisions ?? null) as Story | null,
    unresolved: () => client.unresolved(),
    resolve: (effectId, resolution) => client.resolveEffect(effectId, resolution),
    rollback: async (id, toStep) => (await client.resume(id)).rollback(toStep),
    abort: async (id, reason) => (await client.resume(id)).abort(reason),
    close: () => client.close(),
  };
}

async function orNull<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked;
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return null;
    throw error;
  }
}
