// Owns when two key names are the same (G1, G3a). A name has one or two forms: itself in lower
// case, and its words in lower case joined by `_`. Names match when they share a form, so
// `customerId`, `customer_id`, `customer-id`, `CUSTOMERID` and `customerid` find each other where
// the rules say so: ignoring case, or word by word.
import { NAME_CHARS_MAX } from "./limits.js";
import type { Segment } from "./path.js";

/** Forms of a name, one or two. None for a name that is empty or too long to link. */
export function nameForms(name: string): readonly string[] {
  if (name === "" || name.length > NAME_CHARS_MAX) return [];
  const lower = name.toLowerCase();
  const words = wordForm(name);
  return words === lower || words === "" ? [lower] : [lower, words];
}

/**
 * What an output key may be called to link to this input key (G1): the same, or what follows a
 * `_` in it. Most specific first: `customer_id` gives `customer_id`, `id`.
 */
export function linkForms(name: string): readonly string[] {
  const whole = nameForms(name);
  if (whole.every((form) => !form.includes("_"))) return whole;
  const forms = new Set(whole);
  for (const form of whole) {
    for (let at = form.indexOf("_"); at !== -1; at = form.indexOf("_", at + 1)) {
      if (at + 1 < form.length) forms.add(form.slice(at + 1));
    }
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Forms of a path, one or two: every segment in lower case, or every segment as its words. */
export function pathForms(segments: readonly Segment[]): readonly string[] {
  const lower = segments.map((part) => (typeof part === "number" ? part : part.toLowerCase()));
  const words = segments.map((part) => (typeof part === "number" ? part : wordForm(part)));
  const [first, second] = [joined(lower), joined(words)];
  return first === second ? [first] : [first, second];
}

/** `customerId` and `Customer-ID` give `customer_id`; a name without letters gives itself. */
function wordForm(name: string): string {
  if (/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) return name;
  const words = name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
  return words.length === 0 ? name.toLowerCase() : words.join("_");
}

function joined(segments: readonly Segment[]): string {
  return segments.map((part) => (typeof part === "number" ? `[${part}]` : part)).join(".");
}
