// Owns the border between values of callers and JSON: what is stored is exactly what JSON can say.
//
//   J1 What comes out shares no object with what went in, so nobody can change it afterwards.
//   J2 A key named __proto__ is refused: no later copy can turn it into a prototype.
//   J3 Nesting over 64 levels and values JSON cannot say are refused, not dropped.
import { AgentTxError, type JsonValue, limits } from "@agenttx/model";

export interface JsonText {
  readonly value: JsonValue;
  readonly text: string;
}

/** Copies a value into plain JSON. Throws INVALID_ARGUMENT with the reason (J2, J3). */
export function toJson(value: unknown, bytesMax: number): JsonText {
  const copy = copyJson(value, 0) ?? null;
  const text = JSON.stringify(copy);
  requireBytes(text, bytesMax);
  return { value: copy, text };
}

/** Reads JSON text. Throws INVALID_ARGUMENT, also for text over `bytesMax` UTF-8 bytes. */
export function parseJson(text: string, bytesMax: number): JsonText {
  requireBytes(text, bytesMax);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new AgentTxError("INVALID_ARGUMENT", "The text is not valid JSON.", { cause });
  }
  return toJson(parsed, bytesMax);
}

function requireBytes(text: string, bytesMax: number): void {
  // UTF-8 needs at most three bytes for each UTF-16 unit, so short text need not be measured.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return;
  throw new AgentTxError("PAYLOAD_TOO_LARGE", `The JSON text is over ${bytesMax} bytes.`, {
    details: { bytesMax },
  });
}

/** `undefined` for what JSON.stringify leaves out of objects. */
function copyJson(value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      return refuse("a number that is not finite");
    case "undefined":
      return undefined;
    case "object":
      return value === null ? null : copyObject(value, depth + 1);
    default:
      return refuse(`a ${typeof value}`);
  }
}

function copyObject(value: object, depth: number): JsonValue | undefined {
  if (depth > limits.JSON_DEPTH_MAX) refuse(`nesting over ${limits.JSON_DEPTH_MAX} levels`);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copyJson(value.toJSON(), depth);
  }
  if (ArrayBuffer.isView(value)) refuse("binary data");
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") refuse("a key named __proto__");
    const item = copyJson((value as Record<string, unknown>)[key], depth);
    if (item !== undefined) copy[key] = item;
  }
  return copy;
}

function refuse(what: string): never {
  throw new AgentTxError("INVALID_ARGUMENT", `The value holds ${what}, which is refused as JSON.`);
}
