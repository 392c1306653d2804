// Owns the first look at raw text: bounded size, no terminal codes, one kind of line end.
// Invariants: N1 output length <= TEXT_CHARS_MAX (H4). N2 linear in the input. N3 the output has
// the same length in lower case, so positions found in one are positions in the other.

/** Longest text that is read; a longer one keeps its head and its tail. */
export const TEXT_CHARS_MAX = 65_536;

const TAIL_CHARS = 16_384;
const ESCAPE_CODES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal codes are what is removed
  /[\x1b\x9b]\[?[0-?]{0,32}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,512}\x07?/g;
// What a terminal obeys and what nobody sees: controls, bidirectional and zero-width marks, tags,
// variation selectors, halves of a character. Line ends and tabs are kept.
const CONTROLS = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Cs}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
// The search for a single character is many times faster than a pattern; these are the ones that
// occur. \u0130 is the only one whose lower case is longer.
const UNCLEAN = ["\r", "\x1b", "\0", "\x9b", "\u0130", "\u200b", "\u200d", "\u202e", "\ufeff"];

/** Bounds and cleans raw text. Never throws; any string is accepted. */
export function normalise(raw: string): string {
  const text =
    raw.length <= TEXT_CHARS_MAX
      ? raw
      : `${raw.slice(0, TEXT_CHARS_MAX - TAIL_CHARS - 1)}\n${raw.slice(-TAIL_CHARS)}`;
  if (!UNCLEAN.some((character) => text.includes(character))) return text;
  return withoutControls(
    text
      .replace(ESCAPE_CODES, "")
      .replace(/\r\n?/g, "\n")
      .replace(/\u0130/g, "I"),
  );
}

/** Drops control characters and invisible marks; line ends and tabs stay. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "");
}
