// Owns what may be called a key: identifier, dotted path, JSON pointer or file path (H6).
// Invariants: K1 at most 128 characters, no white space except inside a file path. K2 nothing that
// looks like a value, a secret or a sentence is a key (H3): when in doubt the answer is null (H2).

export const KEY_CHARS_MAX = 128;

const NAME = /^(?:--?|[$@#:])?[A-Za-z_\u00aa-\uffdc][\w$\-\u00aa-\uffdc]*(?:\(\))?$/;
const SEGMENTS = /[.[\]/]+/;
const FILE_PATH =
  /^(?:~|\.{1,2})?(?:[\\/][\w.@+\-\\ \u00c0-\uffdc]*)+$|^[A-Za-z]:[\\/][\w.@+\-\\/ ()]*$|^[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}$/;
const DIGITS = /\d{5,}/;
const HEX = /(?=[0-9a-f]*\d)[0-9a-f]{12,}/i;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-/i;
const TOKEN =
  /^(?:sk|pk|rk|ak|ghp|gho|ghs|pat|xox[abp]|tok|key|glpat|akia|asia|aiza|eyj|cus|sub|pi|ch|whsec|bearer|basic)[-_]?[\w-]*\d[\w-]*$/i;
const LURE = /ignore|disregard|forget|override|instead|jailbreak|obey/i;
const LURED = /instruction|previous|prior|above|prompt|rule|system|rollback|everything|all/i;

const NO_NAMES: ReadonlySet<string> = new Set(
  (
    "undefined null none nil true false nan self this it __all__ __root__ root " +
    "non_field_errors nonfielderrors _schema _errors $ not a an the of is and or"
  ).split(" "),
);

/** Words that stand before "is required" or "must be" without naming a field. */
const NO_SUBJECTS: ReadonlySet<string> = new Set(
  (
    "authentication authorization authorisation login permission access payment token credentials " +
    "password-based they you we he she there that which what one each every both server client " +
    "value values field fields key keys column columns input output argument arguments " +
    "parameter parameters param params object array string number integer data body query payload " +
    "request response message error errors detail general global unknown item element property " +
    "attribute type base " +
    "user resource record file request-id operation action call tool function method variable " +
    "option schema document row table index name-value length size id-token api session " +
    "connection database service host url path result results entity model class module version " +
    "following first second last next same given specified provided requested new old some any no all " +
    "at to in on for with from by if when must should expected received got but only also"
  ).split(" "),
);

/**
 * The key in its clean spelling, or null when the text cannot be trusted as one.
 * Quotes, `$.`, `@`, `:` before and punctuation behind are dropped; a JSON pointer becomes a path.
 */
export function acceptKey(raw: string): string | null {
  let key = raw.replace(/^[\s"'`«»„“”‘’\\]+|[\s"'`«»„“”‘’\\.,:;!?]+$/g, "");
  if (key.startsWith("#/")) key = fromPointer(key.slice(1));
  else key = key.replace(/^(?:\$\.|\$(?=\[)|[@:$](?=[A-Za-z_]))/, "");
  if (key.length === 0 || key.length > KEY_CHARS_MAX) return null;
  if (NO_NAMES.has(key.toLowerCase())) return null;
  if (/\.\w+Exception$|^[A-Z]{2,}\/[A-Z]{2,}$/.test(key)) return null;
  return looksLikeValue(key) || !fitsNames(key) ? null : key;
}

/** Like acceptKey, for a word without quotes that stands at the head of a sentence. */
export function acceptSubject(raw: string): string | null {
  const key = acceptKey(raw);
  if (key === null || NO_SUBJECTS.has(key.toLowerCase())) return null;
  return /^[A-Z][a-z]*$|^E[A-Z]{3,}$/.test(key) ? null : key;
}

/** Accepts a file path; the grammar is wider than that of names, the refusals are the same. */
export function acceptPath(raw: string): string | null {
  const path = raw.trim();
  if (path.length < 2 || path.length > KEY_CHARS_MAX || !FILE_PATH.test(path)) return null;
  return looksLikeValue(path) || /\s\S*\s\S*\s/.test(path) ? null : path;
}

/** Turns `/items/0/qty` into `items.0.qty`; JSON:API's outer `data.attributes` goes. */
export function fromPointer(pointer: string): string {
  const path = pointer.replace(/^\/+/, "").replaceAll("~1", "/").replaceAll("~0", "~");
  return path.replaceAll("/", ".").replace(/^data\.(?:attributes|relationships)\.(?=.)/, "");
}

/** Turns the words that a framework shows for an attribute ("First name") into its name. */
export function fromWords(words: string): string | null {
  return acceptKey(words.trim().toLowerCase().replace(/\s+/g, "_"));
}

function fitsNames(key: string): boolean {
  let names = 0;
  for (const segment of key.replace(/^\//, "").split(SEGMENTS)) {
    if (segment === "" || /^\d{1,4}$/.test(segment) || segment === "*") continue;
    if (!NAME.test(segment.replace(/^["']|["']$/g, ""))) return false;
    names++;
  }
  return names > 0 && names <= 16 && !/\.{2}|\s/.test(key);
}

function looksLikeValue(key: string): boolean {
  if (DIGITS.test(key) || UUID.test(key) || HEX.test(key) || key.includes("@", 1)) return true;
  if (/[\\/]/.test(key) ? key.split(/[\\/.]/).some((part) => TOKEN.test(part)) : isToken(key)) {
    return true;
  }
  return LURE.test(key) ? LURED.test(key) || words(key) > 4 : words(key) > 24;
}

// Letters and digits that change places often, as in base64 and random identifiers.
function isToken(key: string): boolean {
  if (TOKEN.test(key) || /^[A-Z]{2,}-\d/.test(key)) return true;
  for (const part of key.split(/[.[\]\-_/]/)) {
    if (part.length >= 16 && (part.match(/\d[A-Za-z]|[A-Za-z]\d/g)?.length ?? 0) >= 4) return true;
  }
  return false;
}

function words(key: string): number {
  return key.split(/[_\-\s.\\/]|(?<=[a-z])(?=[A-Z])/).length;
}
