// Owns maps from field to complaints: Rails, Laravel, Django REST, ASP.NET, marshmallow, zod.flatten.
// Invariant: a map is believed only where its shape leaves no doubt; else no key (H2).

import { acceptKey } from "../key-grammar.js";
import { categoryOfCode } from "./category-of-code.js";
import { categoryOfMessage } from "./category-of-message.js";
import { categoryOf, type Issue } from "./issue.js";
import { isList, isObject, type Plain, type PlainObject } from "./plain.js";

const GENERAL: ReadonlySet<string> = new Set([
  "non_field_errors",
  "nonFieldErrors",
  "__all__",
  "_schema",
  "_errors",
  "base",
  "detail",
  "message",
  "formErrors",
  "",
  "$",
  "root",
  "code",
  "status",
  "type",
  "title",
  "causes",
  "errors",
  "issues",
  "violations",
  "fieldViolations",
  "details",
  "metadata",
]);
const OUTER: ReadonlySet<string> = new Set([
  "fieldErrors",
  "json",
  "body",
  "query",
  "form",
  "properties",
]);
const ENVELOPES = [
  "errors",
  "error",
  "detail",
  "details",
  "message",
  "messages",
  "fieldErrors",
  "data",
  "content",
];
const DEPTH_MAX = 6;

/** True when every value is a list of sentences, so that the names must be fields. */
export function isFieldMap(node: PlainObject): boolean {
  const values = Object.values(node);
  if (ENVELOPES.some((name) => name in node)) return false;
  return values.length > 0 && values.every((value) => isComplaints(value) || isNested(value));
}

/** The issues of a map. `under` says that the map stood under a name such as `errors`. */
export function issuesOfMap(node: PlainObject, prefix = "", depth = 0): Issue[] {
  const issues: Issue[] = [];
  if (depth > DEPTH_MAX) return issues;
  for (const [name, value] of Object.entries(node).slice(0, 100)) {
    if (GENERAL.has(name)) continue;
    const path = OUTER.has(name) && prefix === "" && isObject(value) ? "" : join(prefix, name);
    const message = firstMessage(value);
    if (message !== null) push(issues, path, message);
    else if (isObject(value) && isList(value._errors) && value._errors.length > 0) {
      push(issues, path, firstMessage(value._errors) ?? "");
    } else if (isObject(value)) issues.push(...issuesOfMap(value, path, depth + 1));
    else if (isList(value)) {
      for (const [index, item] of value.entries()) {
        if (isObject(item)) issues.push(...issuesOfMap(item, `${path}.${index}`, depth + 1));
      }
    }
  }
  return issues;
}

function push(issues: Issue[], path: string, message: string | PlainObject): void {
  const key = acceptKey(path);
  if (key === null) return;
  issues.push({
    keys: [key],
    category: typeof message === "string" ? categoryOfText(message) : categoryOf(message),
  });
}

function categoryOfText(message: string): Issue["category"] {
  const found = /\s/.test(message) ? null : categoryOfCode(message);
  return found === null || found.strength === 4 ? categoryOfMessage(message) : found.category;
}

function firstMessage(value: Plain | undefined): string | PlainObject | null {
  if (typeof value === "string") return /\s/.test(value) ? value : null;
  if (isObject(value)) return talks(value) ? value : null;
  if (!isList(value)) return null;
  const first = value[0];
  if (typeof first === "string") return first;
  return isObject(first) && talks(first) ? first : null;
}

function talks(node: PlainObject): boolean {
  return ["message", "error", "code", "msg", "kind", "description"].some(
    (name) => typeof node[name] === "string",
  );
}

function isComplaints(value: Plain): boolean {
  return isList(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

function isNested(value: Plain): boolean {
  if (isObject(value)) return Object.keys(value).length > 0 && isFieldMap(value);
  return (
    isList(value) &&
    value.length > 0 &&
    value.every((item) => isObject(item)) &&
    value.some((item) => isObject(item) && Object.keys(item).length > 0 && isFieldMap(item))
  );
}

function join(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}
