// Owns the plain form of a thrown value: data without getters, cycles, functions or depth bombs.
// Invariants: V1 never throws, whatever a getter or a proxy does. V2 at most NODES_MAX values and
// DEPTH_MAX levels are copied, so hostile objects cost O(1).

import { TEXT_CHARS_MAX } from "../normalise.js";

/** Plain data: what a JSON parser could have returned. */
export type Plain = string | number | boolean | null | readonly Plain[] | PlainObject;

/** A plain object without a prototype. */
export interface PlainObject {
  readonly [name: string]: Plain;
}

/** Levels of nesting that readers look into. */
export const DEPTH_MAX = 12;

const NODES_MAX = 2000;
const ITEMS_MAX = 200;
const HIDDEN = ["name", "message", "cause", "errors", "stack"] as const;
const SKIPPED: ReadonlySet<string> = new Set(["request", "config", "socket", "agent", "req"]);

interface Copy {
  nodes: number;
  readonly seen: WeakSet<object>;
}

/** True for a plain object (not an array, not null). */
export function isObject(value: Plain | undefined): value is PlainObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an array; narrows, which Array.isArray does not do for read-only arrays. */
export function isList(value: Plain | undefined): value is readonly Plain[] {
  return Array.isArray(value);
}

/** Copies any value into plain data. What cannot be read is left out. */
export function toPlain(value: unknown): Plain {
  return copy(value, 0, { nodes: 0, seen: new WeakSet() });
}

function copy(value: unknown, depth: number, state: Copy): Plain {
  if (typeof value === "string") return value.slice(0, TEXT_CHARS_MAX);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return "[bigint]";
  if (typeof value !== "object" || value === null) return null;
  if (depth > DEPTH_MAX || ++state.nodes > NODES_MAX || state.seen.has(value)) return null;
  state.seen.add(value);
  try {
    return Array.isArray(value) ? copyList(value, depth, state) : copyObject(value, depth, state);
  } catch {
    // A revoked proxy or a trap that throws: there is nothing to read.
    return null;
  }
}

function copyList(list: readonly unknown[], depth: number, state: Copy): Plain {
  const items: Plain[] = [];
  const length = Math.min(list.length, ITEMS_MAX);
  for (let index = 0; index < length; index++)
    items.push(copy(read(list, index), depth + 1, state));
  return items;
}

function copyObject(object: object, depth: number, state: Copy): Plain {
  const plain: Record<string, Plain> = Object.create(null);
  const names = new Set<string>(Object.keys(object).slice(0, ITEMS_MAX));
  if (isErrorLike(object)) for (const name of HIDDEN) names.add(name);
  for (const name of names) {
    if (SKIPPED.has(name) || name.length > 200) continue;
    const value = read(object, name);
    if (value === undefined || typeof value === "function" || typeof value === "symbol") continue;
    plain[name] = copy(value, depth + 1, state);
  }
  return plain;
}

function isErrorLike(object: object): boolean {
  if (object instanceof Error) return true;
  return typeof read(object, "message") === "string" && typeof read(object, "stack") === "string";
}

function read(object: object, name: string | number): unknown {
  try {
    return Reflect.get(object, name);
  } catch {
    // A getter that throws tells nothing.
    return undefined;
  }
}
