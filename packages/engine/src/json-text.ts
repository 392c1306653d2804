// Owns the border between values of callers and JSON: what is stored is exactly what JSON can say.
//
//   J1 What comes out shares no object with what went in, so nobody can change it afterwards.
//   J2 A key named __proto__ is refused: no later copy can turn it into a prototype.
//   J3 Nesting over 64 levels and values JSON cannot say are refused, not dropped.
//   J4 Work and memory are bounded by the size allowed, not by what the value would unfold to: an
//      object that is reached on many ways, or an array of a billion holes, costs no more.
import { AgentTxError, type JsonValue, limits } from "@agenttx/model";

/**
 * Longest receipt or undo argument as JSON, in bytes (16 MiB): over the limit of a step's output,
 * so that a compensation still gets the output that was too large for its step.
 */
export const RECEIPT_BYTES_MAX = 16 * 1024 * 1024;

export interface JsonText {
  readonly value: JsonValue;
  readonly text: string;
}

/**
 * Copies a value into plain JSON. Throws INVALID_ARGUMENT with the reason (J2, J3), and
 * PAYLOAD_TOO_LARGE as soon as the text must become longer than `bytesMax` (J4).
 */
export function toJson(value: unknown, bytesMax: number): JsonText {
  const copy = new JsonCopy(bytesMax).of(value, 0) ?? null;
  const text = JSON.stringify(copy);
  requireBytes(text, bytesMax);
  return { value: copy, text };
}

/** As toJson, without the text. */
export function copyOfJson(value: JsonValue, bytesMax: number): JsonValue {
  return new JsonCopy(bytesMax).of(value, 0) ?? null;
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
  refuseSize(bytesMax);
}

function refuseSize(bytesMax: number): never {
  throw new AgentTxError("PAYLOAD_TOO_LARGE", `The JSON text is over ${bytesMax} bytes.`, {
    details: { bytesMax },
  });
}

/** One copy. `#left` falls by what each part adds to the text at the very least (J4). */
class JsonCopy {
  readonly #bytesMax: number;
  #left: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#left = bytesMax;
  }

  /** `undefined` for what JSON.stringify leaves out of objects. */
  of(value: unknown, depth: number): JsonValue | undefined {
    switch (typeof value) {
      case "string":
        this.#spend(value.length + 2);
        return value;
      case "boolean":
        this.#spend(4);
        return value;
      case "number":
        this.#spend(1);
        if (Number.isFinite(value)) return value;
        return refuse("a number that is not finite");
      case "undefined":
        return undefined;
      case "object":
        return value === null ? null : this.#object(value, depth + 1);
      default:
        return refuse(`a ${typeof value}`);
    }
  }

  #object(value: object, depth: number): JsonValue | undefined {
    if (depth > limits.JSON_DEPTH_MAX) refuse(`nesting over ${limits.JSON_DEPTH_MAX} levels`);
    if (Array.isArray(value)) return this.#array(value, depth);
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return this.of(value.toJSON(), depth);
    }
    if (ArrayBuffer.isView(value)) refuse("binary data");
    this.#spend(2);
    const copy: Record<string, JsonValue> = {};
    for (const key of Object.keys(value)) {
      if (key === "__proto__") refuse("a key named __proto__");
      const item = this.of((value as Record<string, unknown>)[key], depth);
      if (item === undefined) continue;
      this.#spend(key.length + 3);
      copy[key] = item;
    }
    return copy;
  }

  #array(value: readonly unknown[], depth: number): JsonValue {
    // Brackets and commas, before any item: a hole costs nothing else.
    this.#spend(value.length + 1);
    return value.map((item) => this.of(item, depth) ?? null);
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) refuseSize(this.#bytesMax);
  }
}

function refuse(what: string): never {
  throw new AgentTxError("INVALID_ARGUMENT", `The value holds ${what}, which is refused as JSON.`);
}
