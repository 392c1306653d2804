// Owns the judgement of what a sanitizer wrote: which report is ours.

const REPORT = /(?:ERROR|WARNING): (?:Address|Thread|UndefinedBehavior)Sanitizer|runtime error:/;
const EXCERPT_CHARS = 2_000;

/** The first report in the text that is ours, or null. */
export function reportIn(text: string): string | null {
  const found = REPORT.exec(text);
  if (found !== null) return text.slice(found.index, found.index + EXCERPT_CHARS);
  return leaksIn(text).at(0) ?? null;
}

/**
 * Leaks that one of our frames allocated. Node and V8 leave their own when a worker is ended. A
 * promise that nobody settled before the end of its thread cannot be freed by an addon.
 */
export function leaksIn(text: string): readonly string[] {
  if (!text.includes("LeakSanitizer")) return [];
  return text
    .split("\n\n")
    .filter((record) => / leak of \d+ byte/.test(record) && /agenttx/i.test(record))
    .filter((record) => !record.includes(" napi_create_promise "))
    .map((record) => record.slice(0, EXCERPT_CHARS));
}
