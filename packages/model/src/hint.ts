// Owns the shape of a Clean Hint (rules H1-H6). The text is data for a prompt, never an
// instruction; it carries no value, secret or foreign sentence of the raw error.

export type HintCategory =
  | "authentication_failed"
  | "check_violation"
  | "conflict"
  | "deadlock"
  | "foreign_key_violation"
  | "invalid_value"
  | "missing_argument"
  | "missing_field"
  | "not_found"
  | "not_null_violation"
  | "null_dereference"
  | "out_of_range"
  | "payload_too_large"
  | "permission_denied"
  | "rate_limited"
  | "serialization_failure"
  | "server_error"
  | "syntax_error"
  | "timeout"
  | "too_long"
  | "type_mismatch"
  | "unavailable"
  | "undefined_column"
  | "undefined_table"
  | "unique_violation"
  | "unknown_argument"
  | "unknown_tool"
  | "unresolved_reference"
  | "other";

/** A failure, cleaned: one line for the agent, and the same as data for the policy. */
export interface CleanHint {
  /** One line, starts with `Hint: `, at most 240 characters. */
  readonly text: string;
  readonly category: HintCategory;
  /** The culprit field, or null when the text is ambiguous (H2). At most 128 characters. */
  readonly key: string | null;
  /** Every blamed field, in the order of the text. Empty when none is named. */
  readonly keys: readonly string[];
  /** Name of the rule that matched, for `explain` and for people. */
  readonly rule: string;
  /** True when the same call, unchanged, may work later. */
  readonly retryable: boolean;
  /** Milliseconds the other side asked to wait, or null. */
  readonly retryAfterMs: number | null;
  /** The most telling line, redacted: for people and logs, never for a prompt (H6). */
  readonly detail: string | null;
}
