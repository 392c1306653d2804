// Owns the bare status numbers of HTTP: what each means for a caller, and where texts print them.

import type { HintCategory } from "@agenttx/model";
import type { Finding, Strength } from "../finding.js";
import { finding } from "../finding.js";
import type { Reader, Row } from "../rule.js";

interface Meaning {
  readonly category: HintCategory;
  readonly retryable?: boolean;
}

const STATUSES: Readonly<Record<number, Meaning>> = {
  400: { category: "invalid_value" },
  401: { category: "authentication_failed" },
  402: { category: "other" },
  403: { category: "permission_denied" },
  404: { category: "not_found" },
  405: { category: "invalid_value" },
  406: { category: "invalid_value" },
  407: { category: "authentication_failed" },
  408: { category: "timeout" },
  409: { category: "conflict" },
  410: { category: "not_found" },
  411: { category: "missing_field" },
  412: { category: "conflict" },
  413: { category: "payload_too_large" },
  414: { category: "payload_too_large" },
  415: { category: "invalid_value" },
  416: { category: "out_of_range" },
  417: { category: "invalid_value" },
  419: { category: "authentication_failed" },
  421: { category: "unavailable" },
  422: { category: "invalid_value" },
  423: { category: "conflict" },
  424: { category: "conflict" },
  425: { category: "unavailable" },
  428: { category: "missing_field" },
  429: { category: "rate_limited" },
  431: { category: "payload_too_large" },
  451: { category: "permission_denied" },
  499: { category: "other" },
  500: { category: "server_error" },
  501: { category: "server_error" },
  502: { category: "unavailable" },
  503: { category: "unavailable" },
  504: { category: "timeout" },
  507: { category: "unavailable", retryable: false },
  520: { category: "unavailable" },
  521: { category: "unavailable" },
  522: { category: "timeout" },
  523: { category: "unavailable" },
  524: { category: "timeout" },
  529: { category: "unavailable" },
  530: { category: "unavailable" },
};

/** What an HTTP status says; null when it is no error status. */
export function findingOfStatus(status: number): Finding | null {
  const meaning = STATUSES[status] ?? fallback(status);
  if (meaning === null) return null;
  const generic = status === 400 || status === 422 || status === 500;
  return finding({
    ...meaning,
    rule: `http/${status}`,
    strength: generic ? 4 : 2,
  });
}

function fallback(status: number): Meaning | null {
  if (status >= 400 && status < 500) return { category: "invalid_value" };
  return status >= 500 && status < 600 ? { category: "server_error" } : null;
}

const readStatus: Reader = (text, _start, end) => {
  const digits = /^["']?[\s:=(]{0,4}(?:code|status)?[\s:=(]{0,4}["']?([45]\d\d)(?!\d)/i.exec(
    text.slice(end, end + 24),
  )?.[1];
  const found = digits === undefined ? null : findingOfStatus(Number(digits));
  if (found === null) return { names: [], refused: true };
  return { names: [], category: found.category, retryable: found.retryable };
};

/** A row that holds only when a status number follows its words. */
const statusRow = (words: string, strength: Strength): Row => [
  "other",
  words,
  { strength, read: readStatus },
];

export const HTTP_CODES: readonly Row[] = [
  statusRow("status code", 2),
  statusRow("statuscode", 2),
  statusRow("http status", 2),
  statusRow("error code", 2),
  statusRow("http error", 2),
  statusRow("returned error", 2),
  statusRow("api error", 2),
  statusRow("status", 3),
  statusRow("returned", 3),
  statusRow("responded with", 3),
  statusRow("http", 3),
  statusRow("response code", 2),
];
