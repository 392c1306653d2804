// Owns engine.transaction(fn): begin, run, commit; a write conflict begins again (P7).
import { AgentTxError, WriteConflictError } from "@agenttx/model";
import { type BeginTransaction, beginTransaction } from "./load.js";
import type { Clock } from "./ports.js";
import type { EngineState } from "./state.js";
import type { ToolShape } from "./tool-types.js";
import { Transaction } from "./transaction.js";

/** No request id: after a conflict the next run needs a transaction of its own. */
export interface RunTransaction extends Omit<BeginTransaction, "requestId"> {
  /** Runs in all, the first included; 1..100, default 5. */
  readonly attempts?: number;
}

const ATTEMPTS_DEFAULT = 5;
const BACKOFF_MS = 10;
const BACKOFF_MS_MAX = 1_000;

/**
 * Runs `fn` in a new transaction and commits. Returns what `fn` returned.
 * `fn` throws: aborted, and the error goes on. Write conflict: aborted, and run again after a
 * growing pause, at most `attempts` times; then the conflict is thrown. `fn` may end the
 * transaction itself; one that FAILED or is frozen makes this throw as commit does.
 */
export async function runTransaction<Tools extends readonly ToolShape[], Result>(
  engine: EngineState,
  fn: (tx: Transaction<Tools>) => Promise<Result> | Result,
  options: RunTransaction,
): Promise<Result> {
  const { attempts = ATTEMPTS_DEFAULT, ...rest } = options;
  // Callers without types may send one all the same.
  const { requestId: _requestId, ...begin } = rest as BeginTransaction;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 100) {
    throw new AgentTxError("INVALID_ARGUMENT", "attempts is a whole number from 1 to 100.");
  }
  for (let attempt = 1; ; attempt += 1) {
    const tx = new Transaction<Tools>(await beginTransaction(engine, begin));
    const run = await runOnce(tx, fn);
    if (run.kind === "done") return run.result;
    if (attempt === attempts) throw run.conflict;
    await engine.alive.during(() => backoff(engine.clock, attempt));
  }
}

type AnyTransaction = Pick<Transaction, "id" | "status" | "abort">;

type Run<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "conflict"; readonly conflict: WriteConflictError };

async function runOnce<Tools extends readonly ToolShape[], Result>(
  tx: Transaction<Tools>,
  fn: (tx: Transaction<Tools>) => Promise<Result> | Result,
): Promise<Run<Result>> {
  let result: Result;
  try {
    result = await fn(tx);
    if (tx.status !== "ROLLED_BACK") await tx.commit();
    return { kind: "done", result };
  } catch (error) {
    await undo(tx, error);
    if (error instanceof WriteConflictError) return { kind: "conflict", conflict: error };
    throw error;
  }
}

/** Throws when the work must not be repeated: something of it could not be undone. */
async function undo(tx: AnyTransaction, error: unknown): Promise<void> {
  if (isEnded(tx) || isOutcomeUnknown(error)) return;
  const { unresolvedEffects } = await tx.abort(
    error instanceof WriteConflictError ? "WRITE_CONFLICT" : "FUNCTION_THREW",
  );
  if (unresolvedEffects.length === 0 || !(error instanceof WriteConflictError)) return;
  throw new AgentTxError(
    "RECONCILIATION_REQUIRED",
    "The commit lost to another transaction, and an effect of it could not be undone; it is not run again. Resolve the effect first.",
    { details: { transaction: tx.id, unresolvedEffects }, cause: error },
  );
}

function isEnded(tx: AnyTransaction): boolean {
  return tx.status === "COMMITTED" || tx.status === "ROLLED_BACK" || tx.status === "FAILED";
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof AgentTxError && error.code === "OUTCOME_UNKNOWN";
}

/** Exponential, with jitter from the clock's own fraction: no second source of chance is needed. */
function backoff(clock: Clock, attempt: number): Promise<void> {
  const ceiling = Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MS_MAX);
  const fraction = (clock.monotonic() * 1_000) % 1;
  return new Promise((resolve) => {
    clock.schedule(ceiling / 2 + (ceiling / 2) * fraction, resolve);
  });
}
