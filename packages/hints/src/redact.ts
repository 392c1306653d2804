// Owns the redaction of `detail`: one line for people and logs without values and secrets (H6).
// Invariants: D1 one line, at most 300 characters. D2 linear: every pattern is bounded.

import { withoutControls } from "./normalise.js";

/** Longest detail; the rest of the line is cut. */
export const DETAIL_CHARS_MAX = 300;

const MASK = "[…]";

interface Mask {
  /** Cheap test: without one of these the pattern cannot match. */
  readonly needs: RegExp;
  readonly pattern: RegExp;
}

const DIGIT = /\d/;
/** What is recognised as a secret, or as a place where one stands. */
const SECRET_MASKS: readonly Mask[] = [
  { needs: /:\/\//, pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)]{1,512}/gi },
  { needs: /@/, pattern: /[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,6}/g },
  {
    needs: /bearer|basic|token|digest/i,
    pattern: /\b(?:bearer|basic|token|digest)\s{1,4}[\w.~+/=-]{4,512}/gi,
  },
  {
    needs: /[=:]/,
    pattern:
      /(?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|auth|cookie|session|credential|signature)[\w-]{0,24}["']?\s{0,4}[=:]\s{0,4}["']?[^\s"',;&)]{1,512}/gi,
  },
  {
    needs: /[-_]|eyJ|AKI|ASI/,
    pattern:
      /\b(?:sk|pk|rk|ak|gh[pousr]|glpat|xox[abprs]|tok|whsec)[-_][\w-]{4,256}|\beyJ[\w.-]{8,512}|\bA(?:KI|SI)A[A-Z0-9]{8,64}/g,
  },
];
/** What is likely a value, secret or not. */
const VALUE_MASKS: readonly Mask[] = [
  {
    needs: /[=:] ?|row contains|value/,
    pattern:
      /(?:\)=|input_value=|\[parameters: |params: |rejected value |row contains |value is )[([{]?[^\n]{0,400}/gi,
  },
  {
    needs: DIGIT,
    pattern: /(?<![\w-])(?=[\w-]{0,63}\d)[\w]{1,63}(?:-[\w]{1,63}){1,8}(?![\w-])/g,
  },
  { needs: DIGIT, pattern: /\b(?=[a-z]{0,63}\d)[\w+/=]{12,512}/gi },
  { needs: DIGIT, pattern: /-?\d{4,64}/g },
  {
    needs: /["']/,
    pattern: /"[^"\n]{0,400}[\s@][^"\n]{0,400}"|'[^'\n]{0,400}[\s@][^'\n]{0,400}'/g,
  },
];

/**
 * The text as one line of at most 300 characters, for people and logs: what may be a value or a
 * secret is masked, names of fields and classes stay. Control and invisible characters are dropped.
 */
export function redact(text: string): string {
  return masked(text, [...SECRET_MASKS, ...VALUE_MASKS]);
}

/** As `redact`, but values that are not recognised as secrets stay, such as versions of a file. */
export function redactSecrets(text: string): string {
  return masked(text, SECRET_MASKS);
}

function masked(raw: string, masks: readonly Mask[]): string {
  let text = withoutControls(raw.slice(0, DETAIL_CHARS_MAX * 2));
  for (const { needs, pattern } of masks) {
    if (needs.test(text)) text = text.replace(pattern, MASK);
  }
  text = text.replace(/\s+/g, " ").trim();
  // Cutting can leave half of a character.
  return text.length > DETAIL_CHARS_MAX
    ? `${withoutControls(text.slice(0, DETAIL_CHARS_MAX - 1))}…`
    : text;
}
