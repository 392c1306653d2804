// Owns the internal result of a reader: what went wrong, who is blamed, how sure we are.
// Invariants: F1 `keys` hold accepted keys only (key-grammar.ts). F2 a finding carries no raw text.

import type { HintCategory } from "@agenttx/model";

/**
 * How telling a finding is; a smaller number wins.
 * 1 a complete message of known software, 2 a code or an exception class,
 * 3 everyday words, 4 a generic code such as 400 or 500.
 */
export type Strength = 1 | 2 | 3 | 4;

/** What a reader found out about a failure. */
export interface Finding {
  readonly category: HintCategory;
  /** Every blamed field in the order of the text; empty when none is named for certain. */
  readonly keys: readonly string[];
  readonly rule: string;
  readonly retryable: boolean;
  readonly strength: Strength;
  readonly retryAfterMs: number | null;
  /** A plain identifier: the exception's class, when nothing better is known. */
  readonly className: string | null;
}

const RETRYABLE: ReadonlySet<HintCategory> = new Set([
  "deadlock",
  "rate_limited",
  "serialization_failure",
  "timeout",
  "unavailable",
]);

/** True when failures of this category usually pass: the same call may work later. */
export function isRetryable(category: HintCategory): boolean {
  return RETRYABLE.has(category);
}

/** Builds a finding; `retryable` follows the category unless it is given. */
export function finding(
  parts: Pick<Finding, "category" | "rule" | "strength"> & Partial<Finding>,
): Finding {
  return {
    category: parts.category,
    keys: parts.keys ?? [],
    rule: parts.rule,
    retryable: parts.retryable ?? isRetryable(parts.category),
    strength: parts.strength,
    retryAfterMs: parts.retryAfterMs ?? null,
    className: parts.className ?? null,
  };
}

/**
 * The more telling of two findings. A named field outweighs everything except a complete
 * message; between equals the first argument wins.
 */
export function better(first: Finding | null, second: Finding | null): Finding | null {
  if (first === null) return second;
  if (second === null) return first;
  return weight(second) < weight(first) ? second : first;
}

function weight(candidate: Finding): number {
  return candidate.keys.length > 0 ? 0 : candidate.strength;
}
