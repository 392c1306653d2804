// Owns the checks of members that came from disk.

import { malformed } from "./json-bytes.js";

export type Check = (value: unknown) => boolean;
/** One check per member: a new member of the type does not compile until it is here. */
export type Members<Type> = { readonly [Name in keyof Required<Type>]: Check };

export const isText: Check = (value) => typeof value === "string";
export const isNumber: Check = (value) => typeof value === "number";
export const isNatural: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
/** Anything that JSON.parse returned; absent is not JSON. */
export const isJson: Check = (value) => value !== undefined;

export function isNullable(check: Check): Check {
  return (value) => value === null || check(value);
}

export function isList(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

export function isOneOf(values: readonly (string | boolean)[]): Check {
  return (value) => values.some((one) => one === value);
}

/** `object` as `Type`. Throws STORE_CORRUPT naming the first member that does not fit. */
export function requireMembers<Type>(object: object, members: Members<Type>, what: string): Type {
  for (const [name, holds] of Object.entries<Check>(members)) {
    const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
    if (!holds(value)) throw malformed(what, `its member "${name}" is missing or malformed`);
  }
  // Every member of Type was checked above; Members<Type> lists them all.
  return object as Type;
}
