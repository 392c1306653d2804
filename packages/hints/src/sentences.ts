// Owns the words of a hint: one fixed sentence per category, with a slot for the key.
// Invariants: T1 no text of the error enters, only the key and a class name that passed a grammar
// (H3). T2 one line of at most 240 characters (H1).

import type { HintCategory } from "@agenttx/model";

interface Sentence {
  readonly named: string;
  readonly unnamed: string;
}

const SENTENCES: Record<HintCategory, Sentence> = {
  authentication_failed: {
    named: "Authentication failed because of {key}.",
    unnamed: "Authentication failed; the credentials are missing, wrong or expired.",
  },
  check_violation: {
    named: "{key} breaks a rule of the stored data.",
    unnamed: "A value breaks a rule of the stored data.",
  },
  conflict: {
    named: "{key} is in conflict with its current state; read it again first.",
    unnamed: "The target was changed or is in use; read its current state first.",
  },
  deadlock: {
    named: "Deadlock on {key}; the same call may work later.",
    unnamed: "Deadlock with another transaction; the same call may work later.",
  },
  foreign_key_violation: {
    named: "{key} refers to a record that is missing or still in use.",
    unnamed: "A reference points to a record that is missing or still in use.",
  },
  invalid_value: {
    named: "{key} is not accepted; check its name and value.",
    unnamed: "A value was not accepted.",
  },
  missing_argument: {
    named: "The argument {key} is missing.",
    unnamed: "A required argument is missing.",
  },
  missing_field: { named: "{key} is missing.", unnamed: "A required field is missing." },
  not_found: { named: "{key} was not found.", unnamed: "What was asked for was not found." },
  not_null_violation: {
    named: "{key} must not be null.",
    unnamed: "A required column was null.",
  },
  null_dereference: {
    named: "{key} was null or undefined when it was used.",
    unnamed: "A value was null or undefined when it was used.",
  },
  out_of_range: {
    named: "{key} is out of range.",
    unnamed: "A number, date or index is out of range.",
  },
  payload_too_large: {
    named: "{key} is too large; send less.",
    unnamed: "The request is too large; send less.",
  },
  permission_denied: {
    named: "Permission denied for {key}.",
    unnamed: "Permission denied for this operation.",
  },
  rate_limited: {
    named: "Rate limit reached on {key}; wait before the next call.",
    unnamed: "Rate limit reached; wait before the next call.",
  },
  serialization_failure: {
    named: "A concurrent transaction changed {key}; the same call may work later.",
    unnamed: "A concurrent transaction got in the way; the same call may work later.",
  },
  server_error: {
    named: "The other side failed while it handled {key}.",
    unnamed: "The other side failed internally.",
  },
  syntax_error: {
    named: "Syntax error at {key}.",
    unnamed: "The input could not be parsed; check its syntax.",
  },
  timeout: {
    named: "Timeout while waiting for {key}; the same call may work later.",
    unnamed: "Timeout; the same call may work later.",
  },
  too_long: { named: "{key} is too long.", unnamed: "A value is too long." },
  type_mismatch: { named: "{key} has the wrong type.", unnamed: "A value has the wrong type." },
  unavailable: {
    named: "{key} is not available now.",
    unnamed: "A needed service or resource is not available now.",
  },
  undefined_column: {
    named: "The column or property {key} does not exist.",
    unnamed: "A column or property does not exist.",
  },
  undefined_table: {
    named: "The table or collection {key} does not exist.",
    unnamed: "A table or collection does not exist.",
  },
  unique_violation: {
    named: "{key} already exists and must be unique.",
    unnamed: "A record with the same unique value already exists.",
  },
  unknown_argument: {
    named: "The argument {key} is not known here.",
    unnamed: "An argument is not known here.",
  },
  unknown_tool: {
    named: "The tool or command {key} does not exist.",
    unnamed: "This tool or command does not exist.",
  },
  unresolved_reference: {
    named: "The reference {key} could not be resolved.",
    unnamed: "A reference could not be resolved.",
  },
  other: {
    named: "The tool failed because of {key}.",
    unnamed: "The tool failed; the error gives no known reason.",
  },
};

/** The one line for a prompt. `key` and `className` must have passed their grammars. */
export function sentence(
  category: HintCategory,
  key: string | null,
  className: string | null,
): string {
  const { named, unnamed } = SENTENCES[category];
  if (key !== null) return `Hint: ${named.replace("{key}", () => `"${key}"`)}`;
  if (category === "other" && className !== null) {
    return `Hint: The tool failed with ${className}; the error gives no known reason.`;
  }
  return `Hint: ${unnamed}`;
}
