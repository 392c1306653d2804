// Owns one reported problem inside a structure: where it says the field is, and what it says.
// Invariants: S1 a name is taken from properties whose meaning is "the field", never from values.

import type { HintCategory } from "@agenttx/model";
import { acceptKey, acceptPath, fromPointer } from "../key-grammar.js";
import { readText } from "../read-text.js";
import { findingOfSqlState } from "../rules/sqlstate.js";
import { categoryOfCode } from "./category-of-code.js";
import { categoryOfMessage } from "./category-of-message.js";
import { isList, isObject, type Plain, type PlainObject } from "./plain.js";

/** A problem with the fields that it blames. */
export interface Issue {
  readonly keys: readonly string[];
  readonly category: HintCategory;
}

const FIELDS = [
  "param",
  "paramName",
  "param_name",
  "parameter",
  "parameterName",
  "argument",
  "argumentName",
  "field",
  "fieldName",
  "field_name",
  "fieldPath",
  "propertyPath",
  "propertyName",
  "property",
  "attribute",
  "attributeName",
  "columnName",
  "ColumnName",
  "column_name",
  "column",
  "inputName",
  "missingProperty",
  "invalidField",
  "input_name",
] as const;
const OUTER = new Set([
  "body",
  "query",
  "path",
  "header",
  "headers",
  "cookie",
  "formData",
  "querystring",
  "params",
  "args",
  "kwargs",
  "json",
  "form",
]);
const CODES = [
  "code",
  "keyword",
  "type",
  "kind",
  "rule",
  "validator",
  "validatorKey",
  "errorCode",
  "error_code",
  "reason",
  "tag",
  "error",
  "name",
] as const;
const TEXTS = [
  "message",
  "msg",
  "description",
  "detail",
  "title",
  "error",
  "reason",
  "text",
  "errorMessage",
  "interpolatedMessage",
  "longMessage",
] as const;

/** SQLSTATE, Prisma's and MySQL's codes: text rules know them. */
const NUMBERED = /^[0-9A-Z]{5}$|^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/;

/** The issue that an object reports, or null when it does not say which field it is about. */
export function issueOf(node: PlainObject): Issue | null {
  const names = locationOf(node);
  if (names === null) return null;
  const keys = names.flatMap((name) => {
    const key = acceptKey(name);
    return key === null ? [] : [key];
  });
  // One name that cannot be trusted makes all of them unsure; what is wrong is still known.
  return { keys: keys.length < names.length ? [] : keys, category: categoryOf(node) };
}

/** The category from an issue's code, else from its words. */
export function categoryOf(node: PlainObject): HintCategory {
  const message = textOf(node);
  if (node.code === "invalid_type" && isMissing(node, message)) return "missing_field";
  let generic: HintCategory | null = null;
  for (const name of CODES) {
    const code = node[name];
    if (typeof code !== "string" || / \S+ /.test(code)) continue;
    const numbered = NUMBERED.test(code) ? (findingOfSqlState(code) ?? readText(code)) : null;
    if (numbered !== null && numbered.category !== "other") return numbered.category;
    const found = categoryOfCode(code);
    if (found !== null && found.strength < 4 && found.category !== "other") return found.category;
    generic ??= found?.category ?? null;
  }
  if (isObject(node.constraints)) return categoryOfConstraints(node.constraints);
  const spoken = message === "" ? null : categoryOfMessage(message);
  if (spoken !== null && spoken !== "invalid_value") return spoken;
  return generic === null || generic === "other" ? "invalid_value" : generic;
}

/** The words of an issue, bounded. */
export function textOf(node: PlainObject): string {
  for (const name of TEXTS) {
    const text = node[name];
    if (typeof text === "string" && text.length > 2) return text.slice(0, 1000);
  }
  return "";
}

function isMissing(node: PlainObject, message: string): boolean {
  return node.received === "undefined" || /received undefined|^Required$/.test(message);
}

// class-validator: { isNotEmpty: "name should not be empty", … }
function categoryOfConstraints(constraints: PlainObject): HintCategory {
  const [name, text] = Object.entries(constraints)[0] ?? [];
  const found = name === undefined ? null : categoryOfCode(name);
  if (found !== null) return found.category;
  return typeof text === "string" ? categoryOfMessage(text) : "invalid_value";
}

function locationOf(node: PlainObject): readonly string[] | null {
  return ajv(node) ?? paths(node) ?? named(node) ?? pointed(node) ?? lists(node);
}

function ajv(node: PlainObject): readonly string[] | null {
  const base = node.instancePath ?? node.dataPath;
  if (typeof base !== "string" || node.keyword === undefined) return null;
  const outer = base.startsWith("/") ? fromPointer(base) : base.replace(/^\./, "");
  const params = isObject(node.params) ? node.params : {};
  const inner = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof inner === "string") return [outer === "" ? inner : `${outer}.${inner}`];
  return outer === "" ? null : [outer];
}

function paths(node: PlainObject): readonly string[] | null {
  // In GraphQL the path leads to a resolver, not to an input.
  if (node.locations !== undefined || node.extensions !== undefined) return null;
  if (node.code === "unrecognized_keys" && isList(node.keys)) return strings(node.keys);
  for (const name of ["path", "loc", "property_path"]) {
    const path = node[name];
    if (isList(path)) return fromSegments(path);
    if (typeof path === "string" && name === "path") return fromPath(path, node);
  }
  return null;
}

function fromPath(path: string, node: PlainObject): readonly string[] | null {
  if (node.timestamp !== undefined || typeof node.status === "number") return null;
  if (/^[\\/~]|^[A-Za-z]:\\/.test(path)) {
    const file = node.syscall !== undefined || node.errno !== undefined ? acceptPath(path) : null;
    return file === null ? null : [file];
  }
  const talks =
    CODES.some((name) => name !== "name" && name in node) || TEXTS.some((name) => name in node);
  return talks && path !== "" ? [path] : null;
}

/** Joins path segments: `["body", "items", 0, "qty"]` becomes `items.0.qty`. */
function fromSegments(segments: readonly Plain[]): readonly string[] | null {
  const parts: string[] = [];
  for (const segment of segments.slice(0, 20)) {
    const part = isObject(segment) ? segment.key : segment;
    if (typeof part === "string" || typeof part === "number") parts.push(String(part));
  }
  while (parts.length > 1 && OUTER.has(parts[0] ?? "")) parts.shift();
  return parts.length === 0 || OUTER.has(parts.join(".")) ? null : [parts.join(".")];
}

function named(node: PlainObject): readonly string[] | null {
  for (const name of FIELDS) {
    const field = node[name];
    if (typeof field === "string" && field !== "") return [field.replace(/^body\./, "")];
    if (isList(field) && field.length > 0) return fromSegments(field);
  }
  if (typeof node.location === "string" && node.locationType === "parameter")
    return [node.location];
  // Azure and OData: { code, message, target }. "name" with "reason" is RFC 7807's example.
  if (typeof node.target === "string" && typeof node.message === "string") return [node.target];
  const bare = !("status" in node || "code" in node || "type" in node || "message" in node);
  if (bare && typeof node.name === "string" && typeof node.reason === "string") return [node.name];
  return null;
}

function pointed(node: PlainObject): readonly string[] | null {
  const source = isObject(node.source) ? node.source : node;
  if (typeof source.pointer === "string") {
    return [fromPointer(source.pointer.replace(/^#/, ""))];
  }
  return typeof source.parameter === "string" ? [source.parameter] : null;
}

// Mongo: keyPattern; Prisma: meta.target; MongoDB's schema: missingProperties; Sequelize: fields.
function lists(node: PlainObject): readonly string[] | null {
  if (isObject(node.keyPattern)) return Object.keys(node.keyPattern);
  if (isList(node.missingProperties)) return strings(node.missingProperties);
  if (isObject(node.meta) && isList(node.meta.target)) return strings(node.meta.target);
  if (typeof node.name === "string" && node.name.includes("UniqueConstraint")) {
    if (isObject(node.fields)) return Object.keys(node.fields);
    if (isList(node.fields)) return strings(node.fields);
  }
  return typeof node.source === "string" && isList(node.keys) ? strings(node.keys) : null;
}

function strings(list: readonly Plain[]): readonly string[] | null {
  const texts = list.filter((item) => typeof item === "string");
  return texts.length === 0 ? null : texts;
}
