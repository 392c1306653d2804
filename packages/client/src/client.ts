// Owns the client: begin, resume, get, the retry of conflicts.

import {
  type AgentTxError,
  isAgentTxError,
  type RollbackPolicy,
  type TransactionView,
} from "@agenttx/model";
import { policyToWire } from "@agenttx/wire";
import { Client } from "@grpc/grpc-js";
import { type ClientOptions, resolveOptions } from "./options.js";
import { SessionTransport } from "./session-transport.js";
import { type CallSignal, ClientTransaction, fetchView, requestId } from "./transaction.js";
import type { Transport } from "./transport.js";
import { UnaryTransport } from "./unary-transport.js";

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

export interface AgentTxClient extends AsyncDisposable {
  begin(options?: BeginClientOptions): Promise<ClientTransaction>;
  /** A handle on a transaction that is open on the server. */
  resume(transactionId: string, options?: CallSignal): Promise<ClientTransaction>;
  /** Runs `fn`, commits, and runs it again after a WRITE_CONFLICT, at most `attempts` times (3). */
  transaction<Result>(
    fn: (tx: ClientTransaction) => Promise<Result>,
    options?: BeginClientOptions & { readonly attempts?: number },
  ): Promise<Result>;
  get(transactionId: string, options?: CallSignal): Promise<TransactionView>;
  /** Idempotent; open transactions stay open on the server. */
  close(): Promise<void>;
}

/** Nothing is connected until the first call. Throws INVALID_ARGUMENT for settings that cannot be. */
export function createClient(options: ClientOptions): AgentTxClient {
  const resolved = resolveOptions(options);
  const channel = new Client(resolved.address, resolved.credentials, resolved.channel);
  const transport: Transport =
    resolved.transport === "session"
      ? new SessionTransport(channel, resolved)
      : new UnaryTransport(channel, resolved);
  const close = async () => {
    transport.close();
    channel.close();
  };
  return {
    begin: (begin = {}) => begins(transport, begin),
    resume: (id, signal = {}) => resumes(transport, id, signal),
    transaction: (fn, begin = {}) => runs(transport, fn, begin),
    get: (id, signal = {}) => fetchView(transport, id, signal),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function begins(transport: Transport, options: BeginClientOptions) {
  const response = await transport.call(
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
  return new ClientTransaction(transport, response.transactionId, response.nextStepId);
}

async function resumes(transport: Transport, id: string, options: CallSignal) {
  const view = await fetchView(transport, id, options);
  const ended = ["COMMITTED", "ROLLED_BACK", "FAILED"].includes(view.status);
  return new ClientTransaction(transport, id, view.nextStep, ended);
}

async function runs<Result>(
  transport: Transport,
  fn: (tx: ClientTransaction) => Promise<Result>,
  options: BeginClientOptions & { readonly attempts?: number },
): Promise<Result> {
  const attempts = options.attempts ?? 3;
  for (let attempt = 1; ; attempt += 1) {
    // A fresh request id for every attempt: the earlier one belongs to a transaction that ended.
    const { requestId: _used, ...rest } = options;
    const tx = await begins(transport, attempt === 1 ? options : rest);
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
async function endQuietly(tx: ClientTransaction, cause: unknown): Promise<void> {
  try {
    await tx[Symbol.asyncDispose]();
  } catch (error) {
    if (cause instanceof Error && cause.cause === undefined) cause.cause = error;
  }
}

function isConflict(error: unknown): error is AgentTxError {
  return isAgentTxError(error) && error.code === "WRITE_CONFLICT";
}
