// Owns the choice of the line that tells most to a person (H6): the innermost cause, the last line
// of a traceback, the first line that is no frame. The line is redacted before it leaves.

import type { Groups } from "./read-text.js";
import { redact } from "./redact.js";

const CLASS_LINE = /^[\w.$\\:]{1,160}(?:Error|Exception|Violation|Timeout)\b/;

/** The most telling line of a normalised text (split into `groups`), redacted; null: none. */
export function detailOf(text: string, groups: Groups): string | null {
  const lines = (groups[0]?.[0] ?? text).split("\n", 400);
  const traceback = text.startsWith("Traceback (most recent call last)");
  const named = traceback ? lines.findLast((line) => CLASS_LINE.test(line)) : undefined;
  const line = named ?? lines.find((candidate) => /[\p{L}\p{N}]{2}/u.test(candidate));
  if (line === undefined) return null;
  const clean = redact(line);
  return clean === "" ? null : clean;
}
