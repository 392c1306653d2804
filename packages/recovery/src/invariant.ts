// Owns what must be true of a workflow's state and ledger: defined by the application, evaluated at
// checkpoints and before a workflow counts as recovered (C4, W4).

import { reasonText, type StateView, stateText } from "@agenttx/engine";
import type { EffectRecord, InvariantResult } from "@agenttx/model";

export type { InvariantResult } from "@agenttx/model";

/** Every effect of the workflow that is not of a part taken back earlier, by age. */
export type LedgerView = readonly EffectRecord[];

/** True, or why it does not hold; `false` when there is nothing to add. */
export type InvariantAnswer = boolean | string;

export interface Invariant {
  readonly name: string;
  /**
   * Must only read. What it reads counts as read by the revision: when another transaction changes
   * such a key and the revision then writes it, its commit is a conflict.
   */
  check(view: StateView, ledger: LedgerView): Promise<InvariantAnswer> | InvariantAnswer;
}

/** An invariant for `createRecovery`. `name` is shown to people and stored with checkpoints. */
export function defineInvariant(name: string, check: Invariant["check"]): Invariant {
  return { name, check };
}

const PROBLEM_CHARS_MAX = 240;

/** Every invariant, also after one that fails. One that throws does not hold. */
export async function checkInvariants(
  invariants: readonly Invariant[],
  view: StateView,
  ledger: LedgerView,
): Promise<readonly InvariantResult[]> {
  const results: InvariantResult[] = [];
  for (const { name, check } of invariants) {
    const problem = await problemOf(() => check(view, ledger));
    results.push({ name, holds: problem === null, problem });
  }
  return results;
}

async function problemOf(
  check: () => Promise<InvariantAnswer> | InvariantAnswer,
): Promise<string | null> {
  try {
    const answer = await check();
    if (answer === true) return null;
    return (answer === false ? "It does not hold." : stateText(answer)).slice(0, PROBLEM_CHARS_MAX);
  } catch (error) {
    return `Its check failed: ${reasonText(error)}`.slice(0, PROBLEM_CHARS_MAX);
  }
}

/** Null when all hold. */
export function failedInvariants(results: readonly InvariantResult[]): string | null {
  const failed = results.filter(({ holds }) => !holds);
  if (failed.length === 0) return null;
  return failed.map(({ name, problem }) => `${name}: ${problem ?? ""}`).join("; ");
}
