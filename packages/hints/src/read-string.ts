// Owns the order in which a raw string is read: as an HTTP message, as a structure, as text with a
// structure inside, as text. Structure first, text second (H5).

import type { Finding } from "./finding.js";
import { better } from "./finding.js";
import { type Groups, readGroups, readText } from "./read-text.js";
import { retryAfterIn } from "./retry-after.js";
import { findingOfStatus } from "./rules/http-code.js";
import { segmentsOf } from "./segments.js";
import { parseNotation } from "./structure/notation.js";
import type { Plain } from "./structure/plain.js";
import { readStructure } from "./structure/read-structure.js";

/** How many structures inside a text are tried. */
const STRUCTURES_MAX = 6;

const STATUS_LINE = /^HTTP\/\d(?:\.\d)? ([45]\d\d)\b[^\n]*\n/;
const OPENING = /[{[](?=\s{0,40}["'{[A-Za-z_@$}\]])/g;

/**
 * What a normalised string says about a failure; null when nothing in it is known.
 * `groups` are its segments.
 */
export function readString(text: string, groups: Groups): Finding | null {
  const found = readMessage(text, groups);
  // A waiting time matters only where the same call may be repeated.
  if (found?.retryable !== true || found.retryAfterMs !== null) return found;
  return { ...found, retryAfterMs: retryAfterIn(text.slice(0, 8000)) };
}

function readMessage(text: string, groups: Groups): Finding | null {
  const status = text.startsWith("HTTP/") ? STATUS_LINE.exec(text) : null;
  if (status === null) return readBody(text, groups);
  const body = text.indexOf("\n\n");
  const content = text.slice(body + 2);
  const found = body === -1 ? null : readBody(content, segmentsOf(content));
  return better(found, better(findingOfStatus(Number(status[1])), readText(text.slice(0, 2000))));
}

function readBody(text: string, groups: Groups): Finding | null {
  const start = firstPrinted(text);
  if (start !== -1 && isOpening(text, start)) {
    const whole = parseWhole(text, start);
    const found = whole === null ? null : readStructure(whole);
    if (found !== null && found.category !== "other") return found;
  }
  return readMixed(groups);
}

function firstPrinted(text: string): number {
  return text.search(/\S/);
}

function isOpening(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 123 || code === 91;
}

function parseWhole(text: string, start: number): Plain | null {
  try {
    return JSON.parse(text) as Plain; // JSON.parse returns plain data
  } catch {
    // Not strict JSON: another notation, or cut off.
    const parsed = parseNotation(text, start);
    return parsed !== null && text.slice(parsed.end).trim() === "" ? parsed.value : null;
  }
}

function readMixed(groups: Groups): Finding | null {
  const { found, position } = readGroups(groups);
  if (found !== null && found.strength === 1 && found.keys.length > 0) return found;
  const inside = readInside((groups[0] ?? []).join("\n"));
  if (inside === null) return found;
  // A complete message in front quotes what follows: the structure behind it may be a value.
  const quoted = found?.strength === 1 && position !== -1 && position < inside.at;
  return quoted ? found : better(inside.found, found);
}

function readInside(text: string): { found: Finding; at: number } | null {
  OPENING.lastIndex = 0;
  let best: { found: Finding; at: number } | null = null;
  for (let tries = 0; tries < STRUCTURES_MAX; tries++) {
    const opening = OPENING.exec(text);
    if (opening === null) break;
    const parsed = parseNotation(text, opening.index);
    if (parsed === null) continue;
    OPENING.lastIndex = Math.max(parsed.end, opening.index + 1);
    const found = readStructure(parsed.value);
    if (found === null) continue;
    if (found.keys.length > 0) return { found, at: opening.index };
    best ??= { found, at: opening.index };
  }
  return best;
}
