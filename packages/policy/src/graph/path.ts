// Owns the grammar of paths. Read: `items[1].qty`, `items.1.qty`, `/items/1/qty`, `#/items/1/qty`,
// `$.items[1].qty`, `messages.[3].role`, `a["x.y"]`. Written: the first form, one text per place.
//   I1 Total: every string is read, in linear time, without an error.
//   I2 writePath(readPath(writePath(s))) = writePath(s).
import { PATH_CHARS_MAX, PATH_SEGMENTS_MAX } from "./limits.js";

/** A name, or the index of an array element. A name of digits alone is read as an index. */
export type Segment = string | number;

/** Segments of a path; none for the whole value; null when too long or too deep. */
export function readPath(text: string): readonly Segment[] | null {
  if (text.length > PATH_CHARS_MAX) return null;
  const segments = text.startsWith("/") || text.startsWith("#/") ? pointer(text) : dotted(text);
  return segments.length > PATH_SEGMENTS_MAX ? null : segments;
}

export function writePath(segments: readonly Segment[]): string {
  let text = "";
  for (const segment of segments) text = appendSegment(text, segment);
  return text;
}

/** The path of a child: `a` and `b` give `a.b`, `a` and 0 give `a[0]`. */
export function appendSegment(path: string, segment: Segment): string {
  const read = typeof segment === "string" ? nameOrIndex(segment) : segment;
  if (typeof read === "number") return `${path}[${read}]`;
  if (!isPlain(read)) return `${path}[${JSON.stringify(read)}]`;
  return path === "" ? read : `${path}.${read}`;
}

/** `path` with `rest` behind it, both written by this file. */
export function joinPaths(path: string, rest: string): string {
  if (path === "" || rest === "") return path + rest;
  return rest.startsWith("[") ? path + rest : `${path}.${rest}`;
}

/** A name of digits alone is an index, so that `items.1` and `items[1]` are one place. */
export function nameOrIndex(name: string): Segment {
  return /^(0|[1-9]\d{0,14})$/.test(name) ? Number(name) : name;
}

function isPlain(name: string): boolean {
  return /^[^.[\]"'\\/#$][^.[\]"'\\]*$/.test(name);
}

function pointer(text: string): Segment[] {
  const tokens = text.slice(text.indexOf("/") + 1).split("/");
  return tokens.filter((token) => token !== "").map((token) => nameOrIndex(unescaped(token)));
}

function unescaped(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function dotted(text: string): Segment[] {
  const segments: Segment[] = [];
  let at = /^\$(?=[.[]|$)/.test(text) ? 1 : 0;
  while (at < text.length) {
    if (text[at] === ".") {
      at += 1;
    } else if (text[at] === "[") {
      at = bracket(text, at, segments);
    } else {
      const end = nextOf(text, at, /[.[]/g);
      segments.push(nameOrIndex(text.slice(at, end)));
      at = end;
    }
  }
  return segments;
}

/** Reads `[0]`, `[name]` or `["any name"]`; an unclosed one is a name to the end. */
function bracket(text: string, start: number, segments: Segment[]): number {
  const quote = text[start + 1];
  if (quote === '"' || quote === "'") {
    const close = closingQuote(text, start + 2, quote);
    if (close !== -1 && text[close + 1] === "]") {
      segments.push(nameOrIndex(unquoted(text.slice(start + 1, close + 1))));
      return close + 2;
    }
  }
  const close = nextOf(text, start, /\]/g);
  const inner = text.slice(start + 1, close);
  if (inner !== "") segments.push(nameOrIndex(inner));
  return close + 1;
}

function closingQuote(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function unquoted(quoted: string): string {
  if (quoted.startsWith('"')) {
    try {
      return JSON.parse(quoted) as string;
    } catch {
      // Not JSON: read as it stands.
    }
  }
  return quoted.slice(1, -1);
}

function nextOf(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
