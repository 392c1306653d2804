// Owns the one error of this package. Decisions are values; this is thrown for misuse only.

/**
 * An argument outside its contract. `field` names it (`maxLocalDepth`, `step`, `steps[3].edges`).
 * Nothing was changed: every function here checks before it acts.
 */
export class PolicyError extends RangeError {
  override readonly name = "PolicyError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
