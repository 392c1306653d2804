// Owns the reading of a parsed error body or error object (H5): issues with fields first, then the
// words of its messages, then codes and statuses.
// Invariants: R1 only envelope properties are entered; requests, queries and inputs never are.
// R2 of a chain of causes the deepest one that names a field counts.

import type { Finding } from "../finding.js";
import { better, finding, isRetryable } from "../finding.js";
import { KEYS_MAX } from "../match-text.js";
import { readText } from "../read-text.js";
import { retryAfterOf } from "../retry-after.js";
import { findingOfStatus } from "../rules/http-code.js";
import { findingOfSqlState } from "../rules/sqlstate.js";
import { categoryOfCode } from "./category-of-code.js";
import { isFieldMap, issuesOfMap } from "./field-map.js";
import { type Issue, issueOf } from "./issue.js";
import { DEPTH_MAX, isList, isObject, type Plain, type PlainObject } from "./plain.js";

const CAUSES = [
  "cause",
  "[cause]",
  "parent",
  "original",
  "originalError",
  "inner",
  "innererror",
  "innerException",
  "InnerException",
  "driverError",
  "previous",
];
const ENVELOPES = [
  "error",
  "errors",
  "Error",
  "Errors",
  "detail",
  "details",
  "issues",
  "violations",
  "fieldViolations",
  "field_violations",
  "causes",
  "userErrors",
  "invalid-params",
  "invalid_params",
  "invalidParams",
  "validationErrors",
  "validation_errors",
  "validation",
  "fieldErrors",
  "[errors]",
  "subErrors",
  "fault",
  "response",
  "body",
  "data",
  "result",
  "content",
  "messages",
  "meta",
  "extensions",
  "exception",
  "err",
  "errInfo",
  "schemaRulesNotSatisfied",
  "propertiesNotSatisfied",
  "reasons",
  "status",
  "failure",
  "modelState",
  "ModelState",
  "inner_errors",
  "errorDetails",
  "message",
  "__type",
  "writeErrors",
  "children",
  "originalError",
  "graphQLErrors",
  "params",
];
const MAPS: ReadonlySet<string> = new Set([
  "errors",
  "error",
  "fieldErrors",
  "validationErrors",
  "validation_errors",
  "modelState",
  "ModelState",
  "detail",
  "details",
  "messages",
  "issues",
]);
const CODES = [
  "code",
  "type",
  "error",
  "name",
  "Code",
  "__type",
  "reason",
  "status",
  "errorCode",
  "error_code",
  "errcode",
  "errorcode",
  "faultcode",
  "errorType",
  "codeName",
  "kind",
  "error_type",
  "statusText",
  "title",
  "class",
  "exception",
];
const STATES = ["SqlState", "sqlState", "sqlstate", "code"];
const STATUSES = [
  "status",
  "statusCode",
  "status_code",
  "httpStatusCode",
  "http_status",
  "code",
  "httpCode",
  "error_code",
];
const TEXTS = [
  "message",
  "msg",
  "detail",
  "error",
  "error_description",
  "errorMessage",
  "error_message",
  "description",
  "title",
  "MessageText",
  "Message",
  "Detail",
  "reason",
  "text",
  "sqlMessage",
  "details",
  "debugMessage",
  "errmsg",
  "exceptionMessage",
  "fault",
  "longMessage",
  "faultstring",
];

interface Clues {
  readonly issues: Issue[];
  readonly texts: string[];
  best: Finding | null;
  retryAfterMs: number | null;
  nodes: number;
}

/** What a structure says about a failure; null when it is no description of one. */
export function readStructure(root: Plain): Finding | null {
  let found: Finding | null = null;
  for (const node of causesOf(root)) found = better(found, readOne(node));
  return found;
}

// The chain of causes, deepest first; the outer objects stay without their causes.
function causesOf(root: Plain): Plain[] {
  const chain: Plain[] = [];
  let node: Plain = root;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    chain.unshift(node);
    if (!isObject(node)) break;
    const next: Plain | undefined = CAUSES.map((name) => (node as PlainObject)[name]).find(
      isObject,
    );
    if (next === undefined) break;
    node = next;
  }
  return chain;
}

function readOne(root: Plain): Finding | null {
  const clues: Clues = { issues: [], texts: [], best: null, retryAfterMs: null, nodes: 0 };
  if (isObject(root) && isFieldMap(root)) clues.issues.push(...issuesOfMap(root));
  visit(root, 0, clues);
  const found = fromIssues(clues) ?? fromWords(clues);
  if (found === null || clues.retryAfterMs === null) return found;
  return { ...found, retryAfterMs: found.retryAfterMs ?? clues.retryAfterMs };
}

function fromIssues(clues: Clues): Finding | null {
  const [first] = clues.issues;
  if (first === undefined) return null;
  const keys = [...new Set(clues.issues.flatMap((issue) => issue.keys))].slice(0, KEYS_MAX);
  const strength = keys.length > 0 ? 1 : 2;
  return finding({ category: first.category, keys, rule: "structure/field", strength });
}

function fromWords(clues: Clues): Finding | null {
  let best = clues.best;
  for (const text of clues.texts.slice(0, 40)) {
    const spoken = readText(text);
    // Words of known software say more than a code; everyday words say less than one.
    if (spoken !== null) best = spoken.strength === 1 ? better(spoken, best) : better(best, spoken);
  }
  return best;
}

function visit(node: Plain, depth: number, clues: Clues): void {
  if (depth > DEPTH_MAX || ++clues.nodes > 500) return;
  if (typeof node === "string") clues.texts.push(node);
  else if (isList(node)) for (const item of node.slice(0, 100)) visit(item, depth + 1, clues);
  else if (isObject(node)) visitObject(node, depth, clues);
}

function visitObject(node: PlainObject, depth: number, clues: Clues): void {
  const issue = issueOf(node);
  if (issue !== null) clues.issues.push(issue);
  clues.retryAfterMs ??= retryAfterOf(node);
  for (const name of TEXTS) {
    const text = node[name];
    if (typeof text !== "string" || !/\s/.test(text)) continue;
    const thrown = name === "message" && typeof node.name === "string" ? `${node.name}: ` : "";
    clues.texts.push(thrown + text);
  }
  if (clues.issues.length === 0) readCodes(node, clues);
  for (const name of ENVELOPES) {
    const child = node[name];
    if (typeof child !== "object" || child === null) continue;
    if (name === "data" && isObject(child)) visitData(child, depth, clues);
    else if (isObject(child) && MAPS.has(name) && issueOf(child) === null) {
      visitMap(child, depth, clues);
    } else visit(child, depth + 1, clues);
  }
}

// Values of `errors` may be objects that name their own path (Mongoose), or plain complaints.
function visitMap(map: PlainObject, depth: number, clues: Clues): void {
  const described = ["message", "code", "type", "msg", "description", "reason"].some(
    (name) => typeof map[name] === "string",
  );
  if (!described) {
    const own = Object.values(map).flatMap((value) => {
      const issue = isObject(value) ? issueOf(value) : null;
      return issue === null ? [] : [issue];
    });
    clues.issues.push(...(own.length > 0 ? own : issuesOfMap(map)));
  }
  visit(map, depth + 1, clues);
}

// GraphQL and axios keep results under `data`: only what reports errors is entered.
function visitData(data: PlainObject, depth: number, clues: Clues): void {
  const reports = (node: Plain): boolean =>
    isObject(node) &&
    ["userErrors", "errors", "error", "message", "detail", "code", "fieldErrors"].some(
      (name) => name in node,
    );
  if (reports(data)) visit(data, depth + 1, clues);
  else for (const child of Object.values(data)) if (reports(child)) visit(child, depth + 1, clues);
}

function readCodes(node: PlainObject, clues: Clues): void {
  for (const name of STATES) {
    const state = node[name];
    if (typeof state === "string" && state.length === 5) {
      clues.best = better(clues.best, findingOfSqlState(state));
    }
  }
  for (const name of CODES) {
    const code = node[name];
    if (typeof code !== "string" || code.length > 100 || / \w+ \w+ /.test(code)) continue;
    const meaning = code === "error" || code === "Error" ? null : categoryOfCode(code);
    if (meaning === null || meaning.category === "other") continue;
    clues.best = better(clues.best, finding({ ...meaning, rule: `code/${meaning.category}` }));
  }
  for (const name of STATUSES) {
    const status = Number(node[name]);
    if (Number.isInteger(status) && status >= 400 && status < 600) {
      clues.best = better(clues.best, findingOfStatus(status));
    }
  }
  if (typeof node.code === "number") clues.best = better(clues.best, ofNumber(node.code));
}

const NUMBERS: Readonly<Record<number, Finding["category"]>> = {
  [-32700]: "syntax_error",
  [-32600]: "invalid_value",
  [-32601]: "unknown_tool",
  [-32602]: "invalid_value",
  [-32603]: "server_error",
  [-32000]: "unavailable",
  [-32001]: "timeout",
  [-32002]: "not_found",
  11000: "unique_violation",
  11001: "unique_violation",
  112: "serialization_failure",
  121: "check_violation",
  50: "timeout",
  13: "permission_denied",
  18: "authentication_failed",
};

// JSON-RPC and MongoDB use numbers of their own.
function ofNumber(code: number): Finding | null {
  const category = NUMBERS[code];
  if (category === undefined) return null;
  const strength = category === "invalid_value" || category === "server_error" ? 4 : 3;
  return finding({ category, rule: `code/${code}`, strength, retryable: isRetryable(category) });
}
