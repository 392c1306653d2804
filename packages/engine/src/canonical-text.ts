// Owns the canonical text of JSON (RFC 8785): equal for equal content, whatever the order of keys.
import type { JsonValue } from "@agenttx/model";
import { canonicalize } from "json-canonicalize";

/** `text` is the JSON text of `value` as JSON.stringify makes it: most often it is canonical. */
export function canonicalText(value: JsonValue, text: string): string {
  return isSorted(value) ? text : canonicalize(value);
}

/** Whether the keys of all objects stand in the order of their UTF-16 units. */
function isSorted(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = "";
  for (const key of Object.keys(value)) {
    // A key named toJSON means something to serializers.
    if (key < last || key === "toJSON") return false;
    last = key;
    if (!isSorted((value as Readonly<Record<string, JsonValue>>)[key] ?? null)) return false;
  }
  return true;
}
