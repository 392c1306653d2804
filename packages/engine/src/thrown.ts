// Owns the border at which something thrown by foreign code comes in: from here on it can be read.

const UNREADABLE = "The tool threw something that cannot be read.";
/** What the engine and the hints look at in an error before they know what it is. */
const MEMBERS = ["name", "message", "code", "definite", "stack"] as const;

/**
 * What was thrown, or an Error in its place when looking at it throws: a getter or proxy that does
 * must not turn a tool's failure into one of the engine.
 */
export function readableThrown(thrown: unknown): unknown {
  if (typeof thrown !== "object" && typeof thrown !== "function") return thrown;
  if (thrown === null) return thrown;
  try {
    void (thrown instanceof Error);
    for (const member of MEMBERS) if (member in thrown) Reflect.get(thrown, member);
    return thrown;
  } catch {
    return new Error(UNREADABLE);
  }
}
