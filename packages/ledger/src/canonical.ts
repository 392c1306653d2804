// Owns the one text form of a JSON value: members sorted by code unit, no spaces. Equal values
// have equal texts, so a digest of the text names the value.

import type { JsonValue } from "@agenttx/model";

/** REQUIRES: plain JSON; numbers are finite. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Array.isArray does not narrow readonly arrays. */
function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
