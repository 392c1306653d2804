// Owns the constraint list (E10): what failures taught, without their text.
import type { CleanHint, Constraint } from "@agenttx/model";

/** Adds the hint's constraint unless it is known; the oldest leave first. */
export function addConstraint(
  constraints: readonly Constraint[],
  hint: CleanHint,
  max: number,
): readonly Constraint[] {
  const { category, key, rule, text } = hint;
  const known = constraints.some(
    (other) => other.category === category && other.key === key && other.rule === rule,
  );
  if (known || max === 0) return constraints;
  return [...constraints, { category, key, rule, text }].slice(-max);
}
