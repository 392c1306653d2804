// Owns cleanError: any raw failure in, one Clean Hint out.
// Invariants: H1 the shape of the output, for every input. H3 the text is made of fixed sentences,
// an accepted key and an accepted class name. It never throws: a failure of the reading itself is
// answered with the fixed sentence of `other`.

import type { CleanHint } from "@agenttx/model";
import { detailOf } from "./detail.js";
import type { Finding } from "./finding.js";
import { normalise } from "./normalise.js";
import { readString } from "./read-string.js";
import { segmentsOf } from "./segments.js";
import { sentence } from "./sentences.js";
import { isObject, type Plain, toPlain } from "./structure/plain.js";
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
  const words = wordsOf(plain);
  if (words === null) return toHint(found, null);
  const groups = segmentsOf(words);
  return toHint(found ?? readString(words, groups), detailOf(words, groups));
}

// An error object in the form in which it would have been printed.
function wordsOf(plain: Plain): string | null {
  if (!isObject(plain)) return null;
  const message = typeof plain.message === "string" ? plain.message : null;
  const name = typeof plain.name === "string" && plain.name !== "" ? plain.name : null;
  if (message === null) return null;
  return normalise(name === null || name === "Error" ? message : `${name}: ${message}`);
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
