// Owns what people read about a failed undo, lookup or delivery: one line, bounded, redacted (H3, C9).
// It goes into records, logs and answers, so nothing of the other side gets in as it is.

import { redact, redactSecrets } from "@agenttx/hints";
import { isAgentTxError } from "@agenttx/model";
import { readableThrown } from "../thrown.js";

const NOTHING: ReadonlySet<string> = new Set();

/**
 * The first line of what was thrown, with its class name. `secrets`: values that the failed call
 * was given; they are hidden wherever they stand.
 */
export function problemText(thrown: unknown, secrets: ReadonlySet<string> = NOTHING): string {
  const error = readableThrown(thrown);
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  const message = error instanceof Error ? error.message : describe(error);
  const line = `${name}${message}`.split(/[\r\n]/, 1)[0] ?? "";
  return redact(withoutValues(line, secrets)) || "It failed without a message.";
}

/** Why something of ours failed: our own words as they are, everything else as `problemText`. */
export function reasonText(thrown: unknown): string {
  return isAgentTxError(thrown) ? thrown.message : problemText(thrown);
}

/** A version or state that a tool names on purpose: shown as it is, except for secrets. */
export function stateText(value: unknown, secrets: ReadonlySet<string> = NOTHING): string {
  const text = typeof value === "string" ? value : `a ${typeof value}`;
  return redactSecrets(withoutValues(text, secrets)) || "nothing";
}

function withoutValues(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const value of secrets) if (value !== "") clean = clean.replaceAll(value, "[redacted]");
  return clean;
}

function describe(error: unknown): string {
  return typeof error === "string" ? error : `It threw a ${typeof error}.`;
}
