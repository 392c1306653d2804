// Owns the redaction of `detail`: one line for people and logs without values and secrets (H6).
// Invariants: D1 one line, at most 300 characters. D2 linear: every pattern is bounded.

/** Longest detail; the rest of the line is cut. */
export const DETAIL_CHARS_MAX = 300;

const MASK = "[…]";
const PATTERNS: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)]{1,512}/gi,
  /[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,6}/g,
  /\b(?:bearer|basic|token|digest)\s{1,4}[\w.~+/=-]{4,512}/gi,
  /\b[\w-]{0,40}(?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|auth\w{0,16}|cookie|session|credential\w{0,4}|signature)["']?\s{0,4}[=:]\s{0,4}["']?[^\s"',;&)]{1,512}/gi,
  /(?:\)=|input_value=|\[parameters: |params: |rejected value |row contains |value is )[([{]?[^\n]{0,400}/gi,
  /\b(?:sk|pk|rk|ak|gh[pousr]|glpat|xox[abprs]|tok|whsec)[-_][\w-]{4,256}|\beyJ[\w.-]{8,512}|\bA(?:KI|SI)A[A-Z0-9]{8,64}/g,
  /(?<![\w-])(?=[\w-]{0,63}\d)[\w]{1,63}(?:-[\w]{1,63}){1,8}(?![\w-])/g,
  /\b(?=[a-z]{0,63}\d)[\w+/=]{12,512}/gi,
  /-?\d{4,64}/g,
  /"[^"\n]{0,400}[\s@][^"\n]{0,400}"|'[^'\n]{0,400}[\s@][^'\n]{0,400}'/g,
];

/** Masks what may be a value or a secret. Names of fields and classes stay. */
export function redact(line: string): string {
  let text = line.slice(0, DETAIL_CHARS_MAX * 2);
  for (const pattern of PATTERNS) text = text.replace(pattern, MASK);
  text = text.replace(/\s+/g, " ").trim();
  return text.length > DETAIL_CHARS_MAX ? `${text.slice(0, DETAIL_CHARS_MAX - 1)}…` : text;
}
