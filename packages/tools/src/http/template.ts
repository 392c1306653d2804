// Owns templates of URLs and bodies: `{name}` and `{name.path.of.fields}` stand for values.
//
//   T1 A value in a URL is encoded and can neither add a segment nor leave the path.
//   T2 A name without a value is an error, never an empty text.

import type { JsonObject, JsonValue } from "@agenttx/model";

/** What templates may name: `key`, `undoKey`, `request`, `output`. */
export type TemplateValues = Readonly<Record<string, JsonValue>>;

const FIELD = /\{([A-Za-z_][\w.-]*)\}/g;

/** The value at `a.b.0`, or undefined. Own members only. */
export function fieldOf(value: JsonValue, path: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const name of path === "" ? [] : path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) {
      return undefined;
    }
    found = (found as JsonObject)[name];
  }
  return found;
}

/** True when the template uses a value of this name. */
export function mentions(template: JsonValue | undefined, name: string): boolean {
  const text = JSON.stringify(template ?? null);
  return [...text.matchAll(FIELD)].some(([, path = ""]) => path.split(".", 1)[0] === name);
}

function scalarOf(values: TemplateValues, path: string): string {
  const value = fieldOf(values, path);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  throw new Error(`there is no value for {${path}}`);
}

/** The URL with its values (T1, T2). */
export function fillUrl(template: string, values: TemplateValues): string {
  return template.replaceAll(FIELD, (_all, path: string) => {
    const value = scalarOf(values, path);
    if (/^\.{0,2}$/.test(value)) throw new Error(`the value of {${path}} is no path segment`);
    return encodeURIComponent(value);
  });
}

/** A JSON body; a text that is one field becomes the value itself (T2). */
export function fillBody(template: JsonValue, values: TemplateValues): JsonValue {
  if (typeof template === "string") {
    const whole = /^\{([A-Za-z_][\w.-]*)\}$/.exec(template)?.[1];
    if (whole === undefined) {
      return template.replaceAll(FIELD, (_all, path: string) => scalarOf(values, path));
    }
    const value = fieldOf(values, whole);
    if (value === undefined) throw new Error(`there is no value for {${whole}}`);
    return value;
  }
  if (typeof template !== "object" || template === null) return template;
  if (isList(template)) return template.map((item) => fillBody(item, values));
  return Object.fromEntries(
    Object.entries(template).map(([name, item]) => [name, fillBody(item, values)]),
  );
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
