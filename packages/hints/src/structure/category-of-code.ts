// Owns the meaning of machine-readable codes: issue codes of validators, error codes of APIs,
// exception classes. Exact names first, then the words that a code is made of.

import type { HintCategory } from "@agenttx/model";
import { isRetryable, type Strength } from "../finding.js";
import { CODE_NAMES } from "./code-names.js";

/** What a code says. */
export interface CodeMeaning {
  readonly category: HintCategory;
  readonly retryable: boolean;
  readonly strength: Strength;
}

const WORDS: readonly (readonly [RegExp, HintCategory, Strength?, boolean?])[] = [
  [
    /\b(?:rate limit\w*|too many requests?|throttl\w*|slow down|quota exceeded|limit exceeded)\b/,
    "rate_limited",
    2,
  ],
  [/\b(?:insufficient quota|billing \w+)\b/, "rate_limited", 2, false],
  [/\bdeadlock\w*\b/, "deadlock", 2],
  [/\bserialization failure\b/, "serialization_failure", 2],
  [
    /\b(?:optimistic lock\w*|stale \w+|concurrency|version conflict|precondition failed|conditional check failed|etag mismatch)\b/,
    "conflict",
    2,
  ],
  [/\b(?:time ?d? ?out|timeout|deadline exceeded)\b/, "timeout", 2],
  [
    /\b(?:unauthenticated|unauthori[sz]ed|authentication|invalid (?:auth|token|grant|client|api key|access token|credentials?|login|password|signature)|not authed|expired (?:\w+ )?token|token (?:expired|revoked|invalid)|signature does not match|invalid client token id|login failed|bad credentials)\b/,
    "authentication_failed",
    2,
  ],
  [
    /\b(?:forbidden|access denied|permission\w*|not authori[sz]ed|unauthorized operation|insufficient (?:scope|permissions?|privileges?)|missing scope|not allowed|restricted action)\b/,
    "permission_denied",
    2,
  ],
  [/\b(?:unique|already (?:exists?|taken|owned)|duplicate\w*|name taken)\b/, "unique_violation", 2],
  [/\b(?:foreign key|protected|restricted error)\b/, "foreign_key_violation", 2],
  [/\b(?:not null|null violation)\b/, "not_null_violation", 2],
  [/\b(?:conflict\w*|in use|in progress|locked)\b/, "conflict", 2],
  [
    /\b(?:unknown (?:tool|command|method|function)|method not found|tool not found|invalid tool\w*|no such tool)\b/,
    "unknown_tool",
    2,
  ],
  [
    /\b(?:not ?found|no such \w+|does not exist|missing resource|resource missing|unknown (?:channel|user|host))\b/,
    "not_found",
    2,
  ],
  [
    /\b(?:unavailable|overloaded|connection (?:refused|reset|error|failed|closed|aborted)|service down|maintenance|broken pipe)\b/,
    "unavailable",
    2,
  ],
  [
    /\b(?:too large|too big|payload|entity too|body too|context length|msg too long)\b/,
    "payload_too_large",
    2,
  ],
  [/\b(?:too long|max length|above max length|string too|maxlength|length max)\b/, "too_long", 2],
  [/\b(?:out of range|out of bounds|overflow|range error)\b/, "out_of_range", 2],
  [
    /\b(?:missing|required|blank|not provided|empty|undefined|not empty|not blank)\b/,
    "missing_field",
    2,
  ],
  [/\b(?:null reference|null pointer|nil)\b/, "null_dereference", 2],
  [
    /\b(?:type error|invalid type|type mismatch|wrong type|not a number|class cast|invalid cast|\w+ type|type|parsing)\b/,
    "type_mismatch",
    3,
  ],
  [/\b(?:syntax|parse|parser|malformed|unmarshal|decode)\b/, "syntax_error", 3],
  [/\b(?:internal|server error|unexpected|api error|unknown error)\b/, "server_error", 4],
  [
    /\b(?:unprocessable|invalid|validation|bad request|illegal|unsupported|unknown|unrecognized|unexpected|argument|extra|forbidden value|enum|pattern|format|value)\b/,
    "invalid_value",
    4,
  ],
];

/** The meaning of a code in any spelling (snake, kebab, Pascal, SCREAMING); null when unknown. */
export function categoryOfCode(code: string): CodeMeaning | null {
  if (code.length < 2 || code.length > 100 || code === "about:blank") return null;
  if (!/^[\w .:/\\#-]+$/.test(code)) return null;
  const bare = code.replace(/^.*[./\\:#](?=\w)/, "");
  const exact = CODE_NAMES.get(squeeze(code)) ?? CODE_NAMES.get(squeeze(bare));
  if (exact !== undefined) return meaning(exact, 2);
  const words = split(bare);
  for (const [pattern, category, strength, retryable] of WORDS) {
    if (pattern.test(words)) {
      return { category, strength: strength ?? 2, retryable: retryable ?? isRetryable(category) };
    }
  }
  return null;
}

function meaning(text: string, strength: Strength): CodeMeaning {
  const [name, flag] = text.split(" ");
  const category = (name ?? "other") as HintCategory; // the table below is typed by its test
  const retryable = flag === undefined ? isRetryable(category) : flag === "retry";
  return { category, retryable, strength };
}

function squeeze(code: string): string {
  return code
    .toLowerCase()
    .replace(/[^a-z0-9.]/g, "")
    .replace(/(?<=.{4})(?:exception|error)$/, "");
}

function split(code: string): string {
  return code
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replace(/[_\-.:/\\]+/g, " ")
    .toLowerCase()
    .replace(/ (?:exception|error|violation)$/, (suffix) =>
      suffix === " violation" ? suffix : "",
    );
}
