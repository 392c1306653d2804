// Owns the trial of text rules on one piece of text (frames and causes are already apart).
// Invariants: M1 of rules of the same strength the one that matches first in the text wins: what a
// message quotes comes behind its own words, so quoted text cannot outrank it (H3).
// M2 a name that its grammar refuses leaves the category and loses the key (H2).

import type { HintCategory } from "@agenttx/model";
import type { Finding, Strength } from "./finding.js";
import { finding } from "./finding.js";
import { acceptKey, acceptPath, acceptSubject, fromWords } from "./key-grammar.js";
import { type Hit, LiteralIndex } from "./literal-index.js";
import type { Rule } from "./rule.js";
import { rules } from "./rules/index.js";
import { patternOf } from "./template.js";

/** Most keys of one finding. */
export const KEYS_MAX = 32;

let index: LiteralIndex<Rule> | null = null;

interface Match {
  readonly rule: Rule;
  readonly category: HintCategory;
  readonly retryable: boolean;
  readonly names: readonly string[];
  readonly end: number;
}

/** The most telling finding of the text, with the position of its words; null when no rule fits. */
export function matchText(text: string): { found: Finding; position: number } | null {
  // Built at the first use: loading the package costs nothing.
  index ??= new LiteralIndex(rules().map((rule) => ({ literal: rule.literal, item: rule })));
  const hits = index.find(text.toLowerCase());
  if (hits.length === 0) return null;
  for (const strength of [1, 2, 3, 4] as const) {
    const result = firstOf(strength, hits, text);
    if (result !== null) return result;
  }
  return null;
}

// Among everyday words and codes one that names a field is worth more than an earlier one.
function firstOf(strength: Strength, hits: readonly Hit<Rule>[], text: string) {
  let first: { found: Finding; position: number } | null = null;
  for (const [index, hit] of hits.entries()) {
    for (const rule of hit.items) {
      if (rule.strength !== strength) continue;
      const match = tryRule(rule, hit.position, text);
      if (match === null) continue;
      const names = rule.many ? namesOfList(match, hits, index, text) : match.names;
      if (first !== null && names.length === 0) continue;
      const result = { found: toFinding(match, names), position: hit.position };
      if (strength === 1 || names.length > 0) return result;
      first = result;
    }
  }
  return first;
}

function namesOfList(match: Match, hits: readonly Hit<Rule>[], from: number, text: string) {
  const names = [...match.names];
  let end = match.end;
  for (const hit of hits.slice(from + 1)) {
    if (hit.position < end || names.length >= KEYS_MAX) continue;
    for (const rule of hit.items) {
      if (!rule.many || rule.strength !== match.rule.strength) continue;
      const next = tryRule(rule, hit.position, text);
      if (next === null || next.names.length === 0) continue;
      names.push(...next.names);
      end = next.end;
      break;
    }
  }
  return names;
}

function toFinding(match: Match, names: readonly string[]): Finding {
  return finding({
    category: match.category,
    rule: match.rule.name,
    strength: match.rule.strength,
    retryable: match.retryable,
    keys: [...new Set(names)].slice(0, KEYS_MAX),
  });
}

function tryRule(rule: Rule, position: number, text: string): Match | null {
  rule.pattern ??= new RegExp(patternOf(rule.template), "imy");
  rule.pattern.lastIndex = position;
  const match = rule.pattern.exec(text);
  if (match === null) return null;
  // A bare word that is no field's name: then these are everyday words, not this message.
  if (namesNothing(match.groups)) return null;
  const end = rule.pattern.lastIndex;
  const reading = rule.read?.(text, position, end) ?? null;
  if (reading?.refused === true) return null;
  return {
    rule,
    end,
    category: reading?.category ?? rule.category,
    retryable: reading?.retryable ?? rule.retryable,
    names: reading === null ? namesOf(match.groups) : accepted(reading.names),
  };
}

function namesNothing(groups: Record<string, string | undefined> | undefined): boolean {
  const { bare, odd } = groups ?? {};
  if (odd !== undefined) return /^[A-Za-z]?[a-z]*$/.test(odd) || acceptSubject(odd) === null;
  return bare !== undefined && acceptSubject(bare) === null;
}

function namesOf(groups: Record<string, string | undefined> | undefined): string[] {
  if (groups === undefined) return [];
  const { keys, path, attr } = groups;
  const key = groups.key ?? groups.plain;
  const bare = groups.bare ?? groups.odd;
  if (key !== undefined) return some(acceptKey(key));
  if (bare !== undefined) return some(acceptSubject(bare));
  if (path !== undefined) return some(acceptPath(path));
  if (attr !== undefined) return some(/\s/.test(attr) ? fromWords(attr) : acceptKey(attr));
  return keys === undefined ? [] : accepted(keys.split(/\s*,\s*(?:and\s+)?|\s+and\s+/));
}

/** The names of a list that pass the grammar. One refusal makes the whole list unsure: none. */
export function accepted(names: readonly string[]): string[] {
  const keys: string[] = [];
  for (const name of names.slice(0, KEYS_MAX)) {
    const key = acceptKey(name);
    if (key === null) return [];
    keys.push(key);
  }
  return keys;
}

function some(key: string | null): string[] {
  return key === null ? [] : [key];
}
