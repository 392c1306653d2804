// Owns errors over HTTP: RFC 9457 problem documents that carry our code.

import type { WireError } from "@agenttx/wire";
import { status as Status } from "@grpc/grpc-js";

/** gRPC status -> HTTP status, as the google.rpc.Code comments pair them. */
const HTTP_STATUS = new Map<Status, number>([
  [Status.INVALID_ARGUMENT, 400],
  [Status.UNAUTHENTICATED, 401],
  [Status.PERMISSION_DENIED, 403],
  [Status.NOT_FOUND, 404],
  [Status.ALREADY_EXISTS, 409],
  [Status.ABORTED, 409],
  [Status.FAILED_PRECONDITION, 409],
  [Status.RESOURCE_EXHAUSTED, 429],
  [Status.CANCELLED, 499],
  [Status.UNAVAILABLE, 503],
]);

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, string>>;
}

export function problemOf(error: WireError): Problem {
  return {
    type: `urn:agenttx:error:${error.reason.toLowerCase()}`,
    title: error.reason,
    status: error.reason === "PAYLOAD_TOO_LARGE" ? 413 : (HTTP_STATUS.get(error.status) ?? 500),
    code: error.reason,
    detail: error.message,
    retryable: error.retryable,
    details: error.details,
  };
}

export function problemResponse(error: WireError): Response {
  const problem = problemOf(error);
  const headers = new Headers({ "content-type": "application/problem+json" });
  const wait = Number(error.details.retryAfterMs);
  if (Number.isFinite(wait) && wait > 0)
    headers.set("retry-after", String(Math.ceil(wait / 1_000)));
  if (problem.status === 401) headers.set("www-authenticate", "Bearer");
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
