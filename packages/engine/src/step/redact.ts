// Owns what keeps secrets out of records: values of `${secrets.NAME}` and of declared paths.
import type { JsonValue } from "@agenttx/model";
import { childPath } from "./paths.js";

const REDACTED = "[redacted]";

/** Puts the reference back wherever a secret's value stands, also inside longer texts. */
export function withoutSecrets(value: JsonValue, secrets: ReadonlyMap<string, string>): JsonValue {
  if (secrets.size === 0) return value;
  if (typeof value === "string") return textWithoutSecrets(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    copy[textWithoutSecrets(key, secrets)] = withoutSecrets(item, secrets);
  }
  return copy;
}

export function textWithoutSecrets(text: string, secrets: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [name, value] of secrets) {
    if (value !== "") clean = clean.replaceAll(value, `\${secrets.${name}}`);
  }
  return clean;
}

/** An error whose message, stack and causes hold no secret, for the hint. */
export function errorWithoutSecrets(error: unknown, secrets: ReadonlyMap<string, string>): unknown {
  if (secrets.size === 0) return error;
  if (typeof error === "string") return textWithoutSecrets(error, secrets);
  if (!(error instanceof Error)) {
    try {
      return withoutSecrets(JSON.parse(JSON.stringify(error ?? null)), secrets);
    } catch {
      return "The tool failed.";
    }
  }
  const clean = new Error(textWithoutSecrets(error.message, secrets));
  clean.name = error.name;
  return clean;
}

/** Replaces the values at the tool's declared secret paths; `*` stands for any one segment. */
export function redactPaths(value: JsonValue, paths: readonly string[]): JsonValue {
  if (paths.length === 0) return value;
  const patterns = paths.map((path) => path.split("."));
  return redact(value, "", patterns, new Set(paths));
}

function redact(
  value: JsonValue,
  path: string,
  patterns: readonly (readonly string[])[],
  exact: ReadonlySet<string>,
): JsonValue {
  if (path !== "" && (exact.has(path) || patterns.some((pattern) => matches(path, pattern)))) {
    return REDACTED;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => redact(item, childPath(path, index), patterns, exact));
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    copy[key] = redact(item, childPath(path, key), patterns, exact);
  }
  return copy;
}

function matches(path: string, pattern: readonly string[]): boolean {
  const segments = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  if (segments.length !== pattern.length) return false;
  return pattern.every((part, index) => part === "*" || part === segments[index]);
}
