// Owns the client: one channel, its transports, and what is called on them.

import {
  type AgentTxError,
  type EffectRecord,
  isAgentTxError,
  type RollbackPolicy,
  type TransactionStatus,
  type TransactionView,
} from "@agenttx/model";
import { policyToWire } from "@agenttx/wire";
import { Client } from "@grpc/grpc-js";
import {
  type HistoryEntry,
  listEffects,
  listTransactions,
  listUnresolved,
  type Resolution,
  readHistory,
  resolveEffect,
  type TransactionSummary,
} from "./operators.js";
import { type ClientOptions, resolveOptions } from "./options.js";
import { streamReader } from "./read-stream.js";
import { ClientRecovery } from "./recovery.js";
import { SessionTransport } from "./session-transport.js";
import type { ToolLike } from "./tool-types.js";
import {
  type CallSignal,
  ClientTransaction,
  fetchView,
  type HandleParts,
  requestId,
} from "./transaction.js";
import type { Transport } from "./transport.js";
import { UnaryCaller, UnaryTransport } from "./unary-transport.js";
import { type ServeOptions, type Worker, WorkLoop } from "./worker.js";

export interface BeginClientOptions extends CallSignal {
  /** At most 256 bytes. */
  readonly agentId?: string;
  /** At most 64 entries. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Unset fields keep the server's defaults. */
  readonly policy?: Partial<RollbackPolicy>;
  readonly isolation?: "read-committed" | "serializable";
  /** Default: a fresh one. */
  readonly requestId?: string;
}

/** `Tools`: the server's tools, for types alone: `createClient<typeof tools>({ … })`. */
export interface AgentTxClient<Tools extends readonly ToolLike[] = readonly ToolLike[]>
  extends AsyncDisposable {
  begin(options?: BeginClientOptions): Promise<ClientTransaction<Tools>>;
  /** A handle on a transaction by id; one that has ended answers with its outcome. */
  resume(transactionId: string, options?: CallSignal): Promise<ClientTransaction<Tools>>;
  /** Runs `fn`, commits, and runs it again after a WRITE_CONFLICT, at most `attempts` times (3). */
  transaction<Result>(
    fn: (tx: ClientTransaction<Tools>) => Promise<Result> | Result,
    options?: BeginClientOptions & { readonly attempts?: number },
  ): Promise<Result>;
  get(transactionId: string, options?: CallSignal): Promise<TransactionView>;
  history(transactionId: string): Promise<readonly HistoryEntry[]>;
  /** At most `limit` (default 100), by age. */
  list(options?: {
    readonly statuses?: readonly TransactionStatus[];
    readonly limit?: number;
  }): Promise<readonly TransactionSummary[]>;
  effects(transactionId: string): Promise<readonly EffectRecord[]>;
  /** Effects that wait for a person or a retry, oldest first; at most `limit` (default 100). */
  unresolved(options?: { readonly limit?: number }): Promise<readonly EffectRecord[]>;
  resolveEffect(effectId: string, resolution: Resolution): Promise<EffectRecord>;
  /** Workflows and their recovery, with the shape of @agenttx/recovery. */
  readonly recovery: ClientRecovery;
  /** Takes the work of tools that live in this process, until it is closed. */
  serve(options: ServeOptions): Worker;
  /** Idempotent; open transactions stay open on the server. Workers are closed first. */
  close(): Promise<void>;
}

/** Nothing is connected until the first call. Throws INVALID_ARGUMENT for settings that cannot be. */
export function createClient<const Tools extends readonly ToolLike[] = readonly ToolLike[]>(
  options: ClientOptions,
): AgentTxClient<Tools> {
  const resolved = resolveOptions(options);
  const channel = new Client(resolved.address, resolved.credentials, resolved.channel);
  const caller = new UnaryCaller(channel, resolved);
  const transport: Transport =
    resolved.transport === "session"
      ? new SessionTransport(channel, resolved)
      : new UnaryTransport(caller);
  const read = streamReader(channel, resolved);
  const history = (id: string) => readHistory(read, id);
  const parts: HandleParts = { transport, history };
  const workers = new Set<WorkLoop>();
  const close = async () => {
    await Promise.all([...workers].map((worker) => worker.close()));
    transport.close();
    caller.close();
    channel.close();
  };
  return {
    begin: (begin = {}) => begins(parts, begin),
    resume: (id, signal = {}) => resumes(parts, id, signal),
    transaction: (fn, begin = {}) => runs(parts, fn, begin),
    get: (id, signal = {}) => fetchView(transport, id, signal),
    history,
    list: (list = {}) => listTransactions(caller, list),
    effects: (id) => listEffects(caller, id),
    unresolved: ({ limit = 100 } = {}) => listUnresolved(caller, limit),
    resolveEffect: (id, resolution) => resolveEffect(caller, id, resolution),
    recovery: new ClientRecovery(caller, read, parts),
    serve: (serve) => {
      const worker = new WorkLoop({ client: channel, caller }, resolved, serve);
      workers.add(worker);
      return worker;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function begins<Tools extends readonly ToolLike[]>(
  parts: HandleParts,
  options: BeginClientOptions,
): Promise<ClientTransaction<Tools>> {
  const response = await parts.transport.call(
    "begin",
    {
      agentId: options.agentId ?? "",
      metadata: { ...options.metadata },
      policy: options.policy === undefined ? undefined : policyToWire(options.policy),
      requestId: requestId(options.requestId),
      isolation: options.isolation ?? "",
    },
    { signal: options.signal },
  );
  return new ClientTransaction(parts, {
    id: response.transactionId,
    nextStep: response.nextStepId,
  });
}

async function resumes<Tools extends readonly ToolLike[]>(
  parts: HandleParts,
  id: string,
  options: CallSignal,
): Promise<ClientTransaction<Tools>> {
  const { nextStep, status } = await fetchView(parts.transport, id, options);
  return new ClientTransaction(parts, { id, nextStep, status });
}

async function runs<Tools extends readonly ToolLike[], Result>(
  parts: HandleParts,
  fn: (tx: ClientTransaction<Tools>) => Promise<Result> | Result,
  options: BeginClientOptions & { readonly attempts?: number },
): Promise<Result> {
  const attempts = options.attempts ?? 3;
  for (let attempt = 1; ; attempt += 1) {
    // A fresh request id for every attempt: the earlier one belongs to a transaction that ended.
    const { requestId: _used, ...rest } = options;
    const tx = await begins<Tools>(parts, attempt === 1 ? options : rest);
    try {
      const result = await fn(tx);
      await tx.commit();
      return result;
    } catch (error) {
      await endQuietly(tx, error);
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt));
  }
}

/** Aborts after a failure; the failure itself is what the caller must see. */
async function endQuietly(tx: AsyncDisposable, cause: unknown): Promise<void> {
  try {
    await tx[Symbol.asyncDispose]();
  } catch (error) {
    if (cause instanceof Error && cause.cause === undefined) cause.cause = error;
  }
}

function isConflict(error: unknown): error is AgentTxError {
  return isAgentTxError(error) && error.code === "WRITE_CONFLICT";
}
