// Owns the errors of HTTP tools: refusals that are definite, and answers that are no success, worded
// so that hints can read them (a status line, then the body as it came, capped).

import { DefiniteFailure } from "@agenttx/model";

/** Nothing was sent. */
export function httpRefusal(message: string, code?: string): DefiniteFailure {
  const failure = new DefiniteFailure(message);
  return code === undefined ? failure : Object.assign(failure, { code });
}

export interface FailedAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Seconds, when the service said so. */
  readonly retryAfter: number | null;
  readonly text: string;
}

const CAP = 64 * 1024;
const PARSED_MAX = CAP;

/** A status that says that the service did nothing. Anything else may have had an effect. */
const REFUSED = new Set([
  307, 308, 400, 401, 402, 403, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422,
  423, 424, 426, 428, 429, 431, 451, 501,
]);

/**
 * The error of an answer that is no success. Definite when its status says that nothing happened;
 * 408, 409, 425 and most of 5xx do not.
 */
export function answerError(answer: FailedAnswer): Error {
  const { status, statusText, retryAfter, text } = answer;
  const reason = statusText.replaceAll(/[\r\n]/g, " ");
  const wait = retryAfter === null ? "" : `\nretry-after: ${retryAfter}`;
  const message = `HTTP/1.1 ${status} ${reason}${wait}\n\n${text.slice(0, CAP)}`;
  const error = REFUSED.has(status) ? new DefiniteFailure(message) : new Error(message);
  const body = parsed(text);
  return Object.assign(error, {
    status,
    ...(body === undefined ? {} : { body }),
    ...(retryAfter === null ? {} : { retryAfterMs: retryAfter * 1000 }),
  });
}

function parsed(text: string): unknown {
  if (text.length > PARSED_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Codes of failures before a connection was there. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
]);

/** A failure of the connection; definite when `sent` is false: nothing left this machine. */
export function connectionError(error: unknown, sent: boolean): unknown {
  if (!(error instanceof Error) || error instanceof DefiniteFailure) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (sent && !(code !== undefined && NOT_CONNECTED.has(code))) return error;
  if (error.name === "AbortError" || error.name === "TimeoutError") return error;
  return httpRefusal(messageOf(error), code);
}

/** An AggregateError of several addresses has no message of its own. */
function messageOf(error: Error): string {
  if (error.message !== "") return error.message;
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? first.message : "the connection failed";
}
