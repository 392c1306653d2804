// Owns SQLSTATE codes, which every SQL database and most drivers print.

import type { HintCategory } from "@agenttx/model";
import type { Finding } from "../finding.js";
import { finding } from "../finding.js";

const STATES: Readonly<Record<string, HintCategory>> = {
  "23000": "conflict",
  "23001": "foreign_key_violation",
  "23502": "not_null_violation",
  "23503": "foreign_key_violation",
  "23505": "unique_violation",
  "23513": "check_violation",
  "23514": "check_violation",
  "23P01": "conflict",
  "22001": "too_long",
  "22003": "out_of_range",
  "22007": "invalid_value",
  "22008": "out_of_range",
  "22012": "other",
  "22018": "invalid_value",
  "22P02": "invalid_value",
  "22P05": "invalid_value",
  "25006": "permission_denied",
  "25P02": "conflict",
  "25P03": "timeout",
  "28000": "authentication_failed",
  "28P01": "authentication_failed",
  "3D000": "not_found",
  "3F000": "undefined_table",
  "40001": "serialization_failure",
  "40P01": "deadlock",
  "42501": "permission_denied",
  "42601": "syntax_error",
  "42703": "undefined_column",
  "42702": "undefined_column",
  "42804": "type_mismatch",
  "42883": "not_found",
  "42P01": "undefined_table",
  "42P07": "unique_violation",
  "42701": "unique_violation",
  "42S02": "undefined_table",
  "42S22": "undefined_column",
  "42S01": "unique_violation",
  "42000": "syntax_error",
  "53100": "unavailable",
  "53200": "unavailable",
  "53300": "unavailable",
  "54000": "too_long",
  "55P03": "conflict",
  "55006": "conflict",
  "57014": "timeout",
  "57P01": "unavailable",
  "57P02": "unavailable",
  "57P03": "unavailable",
  "58030": "server_error",
  "08000": "unavailable",
  "08001": "unavailable",
  "08003": "unavailable",
  "08004": "unavailable",
  "08006": "unavailable",
  "08S01": "unavailable",
  P0002: "not_found",
  "02000": "not_found",
  HYT00: "timeout",
  HYT01: "timeout",
  "21S01": "syntax_error",
  "0A000": "other",
  "44000": "check_violation",
};

const PRINTED =
  /SQLSTATE[[:=\s("']{1,4}([0-9A-Z]{5})(?![0-9A-Z])|SQL ?State[:=\s"']{1,4}([0-9A-Z]{5})(?![0-9A-Z])|(?:^|["\s])(2[123][0-9P]\d\d|40\w\d\d|42\w\d\d): |ERROR ([0-9A-Z]{5}) \(/;

/** What a SQLSTATE says; null for one that is not known. */
export function findingOfSqlState(state: string): Finding | null {
  const category = STATES[state.toUpperCase()];
  if (category === undefined) return null;
  return finding({
    category,
    rule: `sqlstate/${category}`,
    strength: state === "23000" || state === "42000" ? 4 : 2,
    ...(state === "55P03" ? { retryable: true } : {}),
    ...(state === "53100" ? { retryable: false } : {}),
  });
}

/** The first SQLSTATE that a text prints. */
export function sqlStateIn(text: string): Finding | null {
  const match = PRINTED.exec(text);
  const state = match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4];
  return state === undefined ? null : findingOfSqlState(state);
}
