// Owns cleanError: any raw failure in, one Clean Hint out.
// Invariants: H1 the shape of the output, for every input. H3 the text is made of fixed sentences,
// an accepted key and an accepted class name. It never throws: a failure of the reading itself is
// answered with the fixed sentence of `other`.

import type { CleanHint } from "@agenttx/model";
import { detailOf } from "./detail.js";
import { better, type Finding } from "./finding.js";
import { normalise } from "./normalise.js";
import { readString } from "./read-string.js";
import type { Groups } from "./read-text.js";
import { segmentsOf } from "./segments.js";
import { sentence } from "./sentences.js";
import { isObject, toPlain } from "./structure/plain.js";
import { readStructure } from "./structure/read-structure.js";

const CLASS_NAME = /^[A-Z][A-Za-z0-9]{2,63}$/;

/**
 * Cleans a failure into one line for an agent and the same as data for a policy.
 *
 * `raw` may be a string, an Error (with causes and driver properties), a parsed error body or
 * anything else that was thrown. Pure and deterministic; linear in the input, of which at most
 * 64 KiB are read. Never throws.
 */
export function cleanError(raw: unknown): CleanHint {
  try {
    return typeof raw === "string" ? ofText(normalise(raw)) : ofValue(raw);
  } catch {
    // A bug in a reader must not hide the failure that is being reported.
    return toHint(null, null);
  }
}

function ofText(text: string): CleanHint {
  const groups = segmentsOf(text);
  return toHint(readString(text, groups), detailOf(text, groups));
}

function ofValue(raw: unknown): CleanHint {
  const plain = toPlain(raw);
  if (!isObject(plain) && !Array.isArray(plain)) {
    return typeof plain === "string" || typeof plain === "number"
      ? ofText(normalise(String(plain)))
      : toHint(null, null);
  }
  const found = readStructure(plain);
  if (!isObject(plain) || typeof plain.message !== "string") return toHint(found, null);
  const message = normalise(plain.message);
  const { name } = plain;
  const isNamed = typeof name === "string" && name !== "" && name !== "Error";
  // In the form in which it would have been printed.
  const words = isNamed ? normalise(`${name}: ${plain.message}`) : message;
  const groups = segmentsOf(words);
  const isSettled = found !== null && found.keys.length > 0;
  const read = isSettled ? found : better(found, readNamed(words, groups, message));
  return toHint(read, detailOf(words, groups));
}

// A name in front hides the form of a message that is a body, a response or another error's print.
function readNamed(words: string, groups: Groups, message: string): Finding | null {
  const found = readString(words, groups);
  if (words === message || (found !== null && found.keys.length > 0)) return found;
  return better(readString(message, segmentsOf(message)), found);
}

function toHint(found: Finding | null, detail: string | null): CleanHint {
  const category = found?.category ?? "other";
  const key = found?.keys[0] ?? null;
  const className = found?.className ?? null;
  return {
    text: sentence(
      category,
      key,
      className !== null && CLASS_NAME.test(className) ? className : null,
    ),
    category,
    key,
    keys: found?.keys ?? [],
    rule: found?.rule ?? "none",
    retryable: found?.retryable ?? false,
    retryAfterMs: found?.retryable === true ? found.retryAfterMs : null,
    detail,
  };
}
