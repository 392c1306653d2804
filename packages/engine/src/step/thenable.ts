// Owns the question whether something that foreign code returned has to be waited for.

/** True for promises of any realm or library. Throws what a hostile `then` getter throws. */
export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
