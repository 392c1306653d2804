// Owns how a failed gRPC call becomes an AgentTxError.

import { AgentTxError, type ErrorCode } from "@agenttx/model";
import { errorFromWire, errorInfoOf } from "@agenttx/wire";
import { type ServiceError, status as Status } from "@grpc/grpc-js";
import { unreachable } from "./unreachable.js";

/** For calls that never reached our code on the server: no ErrorInfo, only a gRPC status. */
const FALLBACK = new Map<Status, ErrorCode>([
  [Status.UNAVAILABLE, "UNAVAILABLE"],
  [Status.DEADLINE_EXCEEDED, "UNAVAILABLE"],
  [Status.CANCELLED, "UNAVAILABLE"],
  [Status.UNAUTHENTICATED, "UNAUTHENTICATED"],
  [Status.PERMISSION_DENIED, "PERMISSION_DENIED"],
  [Status.RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED"],
  [Status.INVALID_ARGUMENT, "INVALID_ARGUMENT"],
  [Status.NOT_FOUND, "NOT_FOUND"],
  [Status.UNIMPLEMENTED, "INVALID_ARGUMENT"],
]);

export function callError(error: ServiceError, address: string): AgentTxError {
  const info = errorInfoOf(error.metadata);
  if (info !== null) return errorFromWire({ ...info, message: error.details });
  const code = FALLBACK.get(error.code) ?? "INTERNAL";
  const message = code === "UNAVAILABLE" ? unreachable(address, error.details) : error.details;
  return new AgentTxError(code, message, { details: { grpcStatus: error.code } });
}

/** True when nothing was decided and the same request id may be sent again (E1c). */
export function mayRepeat(error: ServiceError): boolean {
  const info = errorInfoOf(error.metadata);
  if (info !== null) return isStopping(info.reason);
  return error.code === Status.UNAVAILABLE || error.code === Status.CANCELLED || isReset(error);
}

/** A server that stops, or that did not answer in time: another try gets the answer. */
export function isStopping(reason: string): boolean {
  return reason === "UNAVAILABLE";
}

/** A stream cut by HTTP/2 (RST_STREAM, a dying socket) arrives as INTERNAL or UNKNOWN. */
function isReset(error: ServiceError): boolean {
  return (
    (error.code === Status.INTERNAL || error.code === Status.UNKNOWN) &&
    /RST_STREAM|ECONNRESET|EPIPE|socket|stream/i.test(error.details)
  );
}

export function closedError(): AgentTxError {
  return new AgentTxError("CLOSED", "The client is closed; create another.");
}

export function abortedError(): AgentTxError {
  return new AgentTxError(
    "ABORTED_BY_SIGNAL",
    "The caller stopped waiting. The server may still finish the call; repeat it with the same request id to learn its answer.",
  );
}

export function deadlineError(address: string, deadlineMs: number): AgentTxError {
  return new AgentTxError(
    "UNAVAILABLE",
    `No answer from ${address} within ${deadlineMs} ms. The same request id may be sent again.`,
  );
}

export function tooLargeError(bytes: number, bytesMax: number): AgentTxError {
  return new AgentTxError(
    "PAYLOAD_TOO_LARGE",
    `The request has ${bytes} bytes, at most ${bytesMax} are allowed; nothing was sent.`,
    { details: { bytes, bytesMax } },
  );
}
