// Owns the exit codes of `agenttx`: the same with and without --json, documented in the README.

import type { ErrorCode } from "@agenttx/model";
import { isAgentTxError } from "@agenttx/model";

export const EXIT = {
  /** Done; for `run`: committed. */
  OK: 0,
  /** Failed; for `run`: aborted, everything was undone. */
  FAILED: 1,
  /** Wrong arguments, a malformed plan or a module that cannot be loaded. */
  USAGE: 2,
  NOT_FOUND: 3,
  /** The state of things forbids it: a write conflict, an ended transaction, another resolution. */
  CONFLICT: 4,
  /** The store is locked, poisoned, full or too new. */
  UNAVAILABLE: 5,
  /** Something could not be undone and waits for a person. */
  UNRESOLVED: 6,
  /** SIGINT (Ctrl-C). */
  INTERRUPTED: 130,
  /** SIGTERM. */
  TERMINATED: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const EXIT_OF_ERROR = {
  INVALID_ARGUMENT: EXIT.USAGE,
  INVALID_KEY: EXIT.USAGE,
  PAYLOAD_TOO_LARGE: EXIT.USAGE,
  TOOL_INVALID: EXIT.USAGE,
  NOT_FOUND: EXIT.NOT_FOUND,
  SNAPSHOT_NOT_FOUND: EXIT.NOT_FOUND,
  TRANSACTION_EXISTS: EXIT.CONFLICT,
  TRANSACTION_ENDED: EXIT.CONFLICT,
  TRANSACTION_FROZEN: EXIT.UNRESOLVED,
  RECONCILIATION_REQUIRED: EXIT.UNRESOLVED,
  STEP_OUT_OF_ORDER: EXIT.CONFLICT,
  STEP_IN_PROGRESS: EXIT.CONFLICT,
  REQUEST_ID_REUSED: EXIT.CONFLICT,
  REQUEST_UNDONE: EXIT.CONFLICT,
  STALE_OWNER: EXIT.CONFLICT,
  STALE_ATTEMPT: EXIT.CONFLICT,
  WRITE_CONFLICT: EXIT.CONFLICT,
  RESOLUTION_CONFLICT: EXIT.CONFLICT,
  WORKFLOW_STATE: EXIT.CONFLICT,
  PLAN_CHANGED: EXIT.CONFLICT,
  MIGRATION_MISSING: EXIT.CONFLICT,
  SCAN_NOT_SERIALIZABLE: EXIT.CONFLICT,
  OUTCOME_UNKNOWN: EXIT.UNAVAILABLE,
  RESOURCE_EXHAUSTED: EXIT.UNAVAILABLE,
  STORE_LOCKED: EXIT.UNAVAILABLE,
  STORE_CLOSED: EXIT.UNAVAILABLE,
  STORE_POISONED: EXIT.UNAVAILABLE,
  STORE_CORRUPT: EXIT.UNAVAILABLE,
  STORE_BEHIND_ANCHOR: EXIT.UNAVAILABLE,
  FORMAT_TOO_NEW: EXIT.UNAVAILABLE,
  ADDON_NOT_FOUND: EXIT.UNAVAILABLE,
  CLOSED: EXIT.UNAVAILABLE,
  UNAVAILABLE: EXIT.UNAVAILABLE,
  ABORTED_BY_SIGNAL: EXIT.INTERRUPTED,
  UNAUTHENTICATED: EXIT.FAILED,
  PERMISSION_DENIED: EXIT.FAILED,
  INTERNAL: EXIT.FAILED,
} as const satisfies Record<ErrorCode, ExitCode>;

/** The exit code of a thrown value; anything that is no AgentTxError is a failure. */
export function exitCodeOf(error: unknown): ExitCode {
  return isAgentTxError(error) ? EXIT_OF_ERROR[error.code] : EXIT.FAILED;
}
