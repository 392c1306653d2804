// Owns the small language in which rules are written, and its translation to patterns.
//
//   {key}     a field name, quoted or not           {col}    the last part of a dotted name
//   {keys}    a list of names                       {name}    quoted, or a word that may name a field
//   {subject} {name} at the head of a sentence       {field}   same, but no plain word
//   {mark}    quoted, or a word that looks like an identifier
//   {path}    a file path                           {attr}   words that name a field ("First name")
//   {w} a word   {v} anything in the line, as much as possible   {} as little as possible   {#} digits
//   " any quotation mark          newline: the end of the line and the next line's indent
//   ! at the head: look for the first words, not for the longest
//
// Invariants: P1 each pattern hangs on a literal and looks a bounded distance to both sides, so one
// try costs O(1) and a text costs O(n) (H4). P2 a literal has at least four characters.

const QUOTE = "\\\\{0,3}[\"'`´«»„“”‘’『』「」]";
const NAME = "[^\\s\"'`´«»„“”‘’『』「」(){}<>,;:=|\\\\!?&%^~+。，、：；（）]";
const PART = "[^\\s\"'`´«»„“”‘’『』「」(){}<>,;:=|\\\\!?&%^~+.]";
// What a sentence can begin behind. A dot or a bracket inside of a name is none; a quotation mark is
// one where a printed structure has a text, not where a sentence quotes somebody (H3).
const BOUNDARY =
  "(?:^|[\\n:;,!({>=]\\s{0,4}|(?<![\\w\\]])\\[\\s{0,4}|\\.\\s{1,4}" +
  `|(?:[,([{]|${QUOTE}(?::|=>?))\\s{0,4}${QUOTE}|(?:[-*•✖→#]|--)\\s)`;

// The qualifiers before a column, and a quoted name with spaces: that one is never named.
const OUTER = `(?:${PART}{1,64}(?:${QUOTE})?\\.(?:${QUOTE})?){0,4}`;
const SPACED = `${QUOTE}[^\\n"'\`»”]{1,160}${QUOTE}`;

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  key: `(?:${QUOTE}\\s?:?(?<key>${NAME}{1,160})\\s?${QUOTE}|:?(?<plain>${NAME}{1,160})|${SPACED})`,
  col: `(?:${QUOTE}\\s?${OUTER}(?<key>${PART}{1,128})\\s?${QUOTE}|${OUTER}(?<plain>${PART}{1,128})${QUOTE}?|${SPACED})`,
  keys: "(?<keys>[^()\\n]{1,400}?)",
  subject: `(?<=${BOUNDARY})(?:${QUOTE}(?<key>${NAME}{1,160})${QUOTE}|:?(?<bare>${NAME}{1,160}))`,
  field: `(?<=${BOUNDARY})(?:${QUOTE}(?<key>${NAME}{1,160})${QUOTE}|(?<odd>${NAME}{1,160}))`,
  mark: `(?:${QUOTE}\\s?(?<key>${NAME}{1,160})\\s?${QUOTE}|:?(?<odd>${NAME}{1,160}))`,
  name: `(?:${QUOTE}\\s?(?<key>${NAME}{1,160})\\s?${QUOTE}|:?(?<bare>${NAME}{1,160}))`,
  path: "(?:\\\\{0,3}[\"'`‘“]?)(?<path>[^\"'`‘’“”\\n:*?<>|]{0,2}(?::\\\\)?[^\"'`‘’“”\\n:*?<>|]{1,255})(?:\\\\{0,3}[\"'`’”]?)",
  attr: "(?<attr>[A-Za-z][\\w .]{0,80}?)",
  w: `(?:${QUOTE})?[^\\s"',;()]{1,160}(?:${QUOTE})?`,
  v: "[^\\n]{0,400}",
  "": "[^\\n]{0,300}?",
  "#": "-?\\d{1,20}",
};

interface Piece {
  readonly kind: "text" | "slot";
  readonly value: string;
}

/**
 * The lower-case text that must occur; the pattern is tried at its position only. Throws on a
 * template without one: a bug of the rule table.
 */
export function literalOf(template: string): string {
  const pieces = split(template);
  const literal = pieces[anchorOf(template, pieces)]?.value.toLowerCase() ?? "";
  if (literal.length < 4) throw new Error(`rule template without a literal: ${template}`);
  return literal;
}

/** The pattern around the literal, for a sticky search at the literal's position. */
export function patternOf(template: string): string {
  const pieces = split(template);
  const anchor = anchorOf(template, pieces);
  const before = pieces.slice(0, anchor).map(toPattern).join("");
  const after = pieces
    .slice(anchor + 1)
    .map(toPattern)
    .join("");
  const head = /^!?\w/.test(template) ? "(?<!\\w)" : "";
  const tail = /\w$/.test(template) ? "(?!\\w)" : "";
  const behind = before + head === "" ? "" : `(?<=${head}${before})`;
  return `${behind}${literally(pieces[anchor]?.value ?? "")}${after}${tail}`;
}

function anchorOf(template: string, pieces: readonly Piece[]): number {
  return template.startsWith("!") ? 0 : longestText(pieces);
}

function split(template: string): Piece[] {
  const pieces: Piece[] = [];
  for (const part of template.replace(/^!/, "").split(/(\{[a-z#]*\}|"|\n)/)) {
    if (part === "") continue;
    const slot = /^\{([a-z#]*)\}$/.exec(part)?.[1];
    if (slot !== undefined) pieces.push({ kind: "slot", value: PLACEHOLDERS[slot] ?? "" });
    else if (part === '"') pieces.push({ kind: "slot", value: `(?:${QUOTE}\\s?|\\s${QUOTE})` });
    else if (part === "\n") pieces.push({ kind: "slot", value: "[ \\t]{0,8}(?:\\n\\s{0,60}|$)" });
    else pieces.push({ kind: "text", value: part });
  }
  return pieces;
}

function longestText(pieces: readonly Piece[]): number {
  let best = -1;
  let length = 0;
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === "text" && piece.value.length > length) {
      best = index;
      length = piece.value.length;
    }
  }
  return best;
}

function toPattern(piece: Piece): string {
  return piece.kind === "slot" ? piece.value : literally(piece.value);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
