// Owns the one list of error codes and the one error class. Every code stands in docs/errors.md,
// and a test checks both directions. Decisions (a rollback, a frozen transaction) are values, not
// errors (P7).

/** Code -> what callers of every kind may rely on. `retryable`: the same call may work later. */
export const ERROR_CODES = {
  INVALID_ARGUMENT: { retryable: false },
  INVALID_KEY: { retryable: false },
  PAYLOAD_TOO_LARGE: { retryable: false },
  NOT_FOUND: { retryable: false },
  SNAPSHOT_NOT_FOUND: { retryable: false },
  TRANSACTION_EXISTS: { retryable: false },
  TRANSACTION_ENDED: { retryable: false },
  TRANSACTION_FROZEN: { retryable: false },
  RECONCILIATION_REQUIRED: { retryable: false },
  STEP_OUT_OF_ORDER: { retryable: false },
  STEP_IN_PROGRESS: { retryable: true },
  REQUEST_ID_REUSED: { retryable: false },
  REQUEST_UNDONE: { retryable: false },
  STALE_OWNER: { retryable: false },
  STALE_ATTEMPT: { retryable: false },
  WRITE_CONFLICT: { retryable: true },
  OUTCOME_UNKNOWN: { retryable: false },
  RESOURCE_EXHAUSTED: { retryable: true },
  STORE_LOCKED: { retryable: true },
  STORE_CLOSED: { retryable: false },
  STORE_POISONED: { retryable: true },
  STORE_CORRUPT: { retryable: false },
  STORE_BEHIND_ANCHOR: { retryable: false },
  FORMAT_TOO_NEW: { retryable: false },
  ADDON_NOT_FOUND: { retryable: false },
  TOOL_INVALID: { retryable: false },
  RESOLUTION_CONFLICT: { retryable: false },
  WORKFLOW_STATE: { retryable: false },
  PLAN_CHANGED: { retryable: false },
  MIGRATION_MISSING: { retryable: false },
  SCAN_NOT_SERIALIZABLE: { retryable: false },
  ABORTED_BY_SIGNAL: { retryable: false },
  CLOSED: { retryable: false },
  UNAVAILABLE: { retryable: true },
  UNAUTHENTICATED: { retryable: false },
  PERMISSION_DENIED: { retryable: false },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  /** Data for programs: ids, expected values, limits. Never a secret, never a stack. */
  readonly [name: string]: string | number | boolean | null | readonly string[];
}

const BRAND = Symbol.for("agenttx.error");

/**
 * The error of every package. `message` says what happened, what is unchanged and what to do, in
 * one or two sentences. Recognise it with `isAgentTxError`, which also works when two copies of
 * the package are loaded.
 */
export class AgentTxError extends Error {
  override readonly name: string = "AgentTxError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly [BRAND] = true;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

/** Commit lost to another committer (S7): nothing was written. `keys` are hex when not UTF-8. */
export class WriteConflictError extends AgentTxError {
  override readonly name = "WriteConflictError";
  readonly keys: readonly Uint8Array[];

  constructor(keys: readonly Uint8Array[]) {
    const shown = keys.slice(0, 8).map(printableKey);
    super(
      "WRITE_CONFLICT",
      `Another transaction committed ${shown.join(", ")}${keys.length > 8 ? ", …" : ""} first; nothing was written. Begin again from the current state.`,
      { details: { keys: keys.map(printableKey) } },
    );
    this.keys = keys;
  }
}

export function isAgentTxError(error: unknown): error is AgentTxError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** UTF-8 text when the bytes are printable, else `0x…` hex. */
export function printableKey(key: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(key);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    if (!/[\u0000-\u001f\u007f]/.test(text)) return text;
  } catch {
    // Not UTF-8: shown as hex below.
  }
  return `0x${Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
