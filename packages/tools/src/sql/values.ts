// Owns values on their way between JSON and SQLite: arguments, rows for agents, images for undo.

import type { JsonValue } from "@agenttx/model";
import { z } from "zod";
import type { SqlValue } from "./driver.js";

/** A parameter: JSON scalar, `{ integer: "9007199254740993" }` or `{ base64: "…" }`. */
export const sqlParameter = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ integer: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ base64: z.base64() }),
]);

export type SqlParameter = z.infer<typeof sqlParameter>;

/** Whole numbers are bound as integers: bound as reals, a text column would store `5.0`. */
export function bound(value: SqlParameter): SqlValue {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  return "integer" in value ? BigInt(value.integer) : Buffer.from(value.base64, "base64");
}

/** For agents. Integers past 2^53 are text, bytes are `{ base64 }`. */
export function shown(value: SqlValue): JsonValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return Buffer.isBuffer(value) ? { base64: value.toString("base64") } : value;
}

/** Exact: text and null as they are, everything else tagged with its type. */
export type StoredValue = null | string | { i: string } | { r: string } | { b: string };

export function stored(value: SqlValue): StoredValue {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "bigint") return { i: value.toString() };
  // The shortest text that reads as the same number; -0 needs its sign.
  if (typeof value === "number") return { r: Object.is(value, -0) ? "-0" : String(value) };
  return { b: value.toString("base64") };
}

export function fromStored(value: StoredValue): SqlValue {
  if (value === null || typeof value === "string") return value;
  if ("i" in value) return BigInt(value.i);
  return "r" in value ? Number(value.r) : Buffer.from(value.b, "base64");
}

/** Same type and same value. */
export function sameValue(one: SqlValue, other: SqlValue): boolean {
  if (Buffer.isBuffer(one)) return Buffer.isBuffer(other) && one.equals(other);
  return Object.is(one, other);
}
