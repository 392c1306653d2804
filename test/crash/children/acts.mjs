// Owns what a victim does to a transaction, told before and after: `try…` before the call, the
// acknowledgement after it. What the driver believes, it believes from these lines alone.
import { isAgentTxError } from "@agenttx/engine";
import { say } from "./say.mjs";

export async function begin(engine, rid) {
  say({ k: "begin-try", rid });
  const tx = await engine.begin({ requestId: rid });
  say({ k: "begin", rid, tx: tx.id });
  return tx;
}

/** Runs a step; null when the transaction is frozen or has ended. */
export async function step(tx, rid, tool, args) {
  say({ k: "step-try", tx: tx.id, rid, tool, args });
  const outcome = await tx.step(tool, args, { requestId: rid });
  const { status, step: number, nextStep, output = null, transactionStatus = null } = outcome;
  say({ k: "step", tx: tx.id, rid, status, step: number, nextStep, output, transactionStatus });
  return status === "FAILED" ? null : outcome;
}

/** False when the transaction is frozen. */
export async function rollback(tx, toStep) {
  say({ k: "rollback-try", tx: tx.id, toStep });
  const { rolledBack, nextStep } = await tx.rollback(toStep);
  say({ k: "rollback", tx: tx.id, rolledBack, nextStep });
  return rolledBack;
}

/** Commits; one that lost to another transaction is aborted. */
export async function commit(tx) {
  say({ k: "commit-try", tx: tx.id });
  try {
    const { commitVersion } = await tx.commit();
    say({ k: "commit", tx: tx.id, version: String(commitVersion) });
  } catch (error) {
    if (!isAgentTxError(error) || error.code !== "WRITE_CONFLICT") throw error;
    say({ k: "conflict", tx: tx.id });
    await abort(tx);
  }
}

export async function abort(tx) {
  say({ k: "abort-try", tx: tx.id });
  const { status } = await tx.abort();
  say({ k: "abort", tx: tx.id, status });
}
