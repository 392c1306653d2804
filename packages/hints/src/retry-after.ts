// Owns the waiting time that the other side asks for.
// Invariant: the result is a whole number of milliseconds from 0 to RETRY_AFTER_MS_MAX, or null.

import type { Plain, PlainObject } from "./structure/plain.js";

/** Longest waiting time that is believed: one day. */
export const RETRY_AFTER_MS_MAX = 86_400_000;

const SECONDS = [
  "retryAfter",
  "retry_after",
  "retryAfterSeconds",
  "retry_after_seconds",
  "retry-after",
  "Retry-After",
  "retryDelay",
  "retry_delay",
];
const MILLISECONDS = ["retryAfterMs", "retry_after_ms", "retry-after-ms", "retryAfterMillis"];
const SPOKEN =
  /(?:try again (?:in|after)|retry (?:in|after)|retry-after["']?\s?[:=]|available in|wait|retryDelay["']?\s?[:=]|retry_after["']?\s?[:=])\s{0,3}["']?(\d{1,9}(?:\.\d{1,9})?)\s?(ms|milliseconds?|m(?:in(?:ute)?s?)?|h(?:ours?)?|s(?:ec(?:ond)?s?)?)?(?![\w])/i;

/** The waiting time that an object states in a property of its own. */
export function retryAfterOf(node: PlainObject): number | null {
  for (const name of MILLISECONDS) if (name in node) return bounded(toNumber(node[name]));
  for (const name of SECONDS) {
    const value = toNumber(node[name]);
    if (value !== null) return bounded(value * 1000);
  }
  return null;
}

/** The waiting time that a text states: a header or a sentence. A date needs a clock: null. */
export function retryAfterIn(text: string): number | null {
  if (!/retry|again|available in|wait/i.test(text)) return null;
  const match = SPOKEN.exec(text);
  if (match?.[1] === undefined) return null;
  const amount = Number(match[1]);
  return bounded(amount * unit(match[2]?.toLowerCase() ?? "s"));
}

function unit(name: string): number {
  if (name.startsWith("ms") || name.startsWith("mil")) return 1;
  if (name.startsWith("m")) return 60_000;
  return name.startsWith("h") ? 3_600_000 : 1000;
}

function toNumber(value: Plain | undefined): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  const digits = /^(\d{1,9}(?:\.\d{1,9})?)s?$/.exec(value.trim())?.[1];
  return digits === undefined ? null : Number(digits);
}

function bounded(ms: number | null): number | null {
  if (ms === null || !Number.isFinite(ms) || ms < 0 || ms > RETRY_AFTER_MS_MAX) return null;
  return Math.ceil(ms);
}
