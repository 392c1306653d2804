// Owns how an error crosses: one table from error code to gRPC status, and the details that carry
// the code itself. A new code does not compile until it has its row.

import { AgentTxError, ERROR_CODES, type ErrorCode, type ErrorDetails } from "@agenttx/model";
import { Metadata, status as Status } from "@grpc/grpc-js";
import { ErrorInfo, RichStatus } from "./gen/agenttx/v1/status.js";
import { encodeMessage } from "./message-writer.js";

export const ERROR_DOMAIN = "agenttx";
const INFO_TYPE = "type.googleapis.com/google.rpc.ErrorInfo";
const DETAILS_KEY = "grpc-status-details-bin";
/** A detail or message longer than this is cut: trailers are limited (16 KiB in many clients). */
const DETAIL_CHARS_MAX = 512;
const MESSAGE_CHARS_MAX = 1_024;
/** A message may name what the caller sent; logs and terminals must not obey it. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export const GRPC_STATUS = {
  INVALID_ARGUMENT: Status.INVALID_ARGUMENT,
  INVALID_KEY: Status.INVALID_ARGUMENT,
  PAYLOAD_TOO_LARGE: Status.INVALID_ARGUMENT,
  NOT_FOUND: Status.NOT_FOUND,
  SNAPSHOT_NOT_FOUND: Status.NOT_FOUND,
  TRANSACTION_EXISTS: Status.ALREADY_EXISTS,
  TRANSACTION_ENDED: Status.FAILED_PRECONDITION,
  TRANSACTION_FROZEN: Status.FAILED_PRECONDITION,
  RECONCILIATION_REQUIRED: Status.FAILED_PRECONDITION,
  STEP_OUT_OF_ORDER: Status.FAILED_PRECONDITION,
  STEP_IN_PROGRESS: Status.FAILED_PRECONDITION,
  REQUEST_ID_REUSED: Status.INVALID_ARGUMENT,
  REQUEST_UNDONE: Status.FAILED_PRECONDITION,
  STALE_OWNER: Status.FAILED_PRECONDITION,
  STALE_ATTEMPT: Status.FAILED_PRECONDITION,
  WRITE_CONFLICT: Status.ABORTED,
  OUTCOME_UNKNOWN: Status.UNKNOWN,
  RESOURCE_EXHAUSTED: Status.RESOURCE_EXHAUSTED,
  STORE_LOCKED: Status.UNAVAILABLE,
  STORE_CLOSED: Status.UNAVAILABLE,
  STORE_POISONED: Status.UNAVAILABLE,
  STORE_CORRUPT: Status.DATA_LOSS,
  STORE_BEHIND_ANCHOR: Status.DATA_LOSS,
  FORMAT_TOO_NEW: Status.FAILED_PRECONDITION,
  ADDON_NOT_FOUND: Status.INTERNAL,
  TOOL_INVALID: Status.INVALID_ARGUMENT,
  RESOLUTION_CONFLICT: Status.FAILED_PRECONDITION,
  WORKFLOW_STATE: Status.FAILED_PRECONDITION,
  PLAN_CHANGED: Status.FAILED_PRECONDITION,
  MIGRATION_MISSING: Status.FAILED_PRECONDITION,
  SCAN_NOT_SERIALIZABLE: Status.FAILED_PRECONDITION,
  ABORTED_BY_SIGNAL: Status.CANCELLED,
  CLOSED: Status.UNAVAILABLE,
  UNAVAILABLE: Status.UNAVAILABLE,
  UNAUTHENTICATED: Status.UNAUTHENTICATED,
  PERMISSION_DENIED: Status.PERMISSION_DENIED,
  INTERNAL: Status.INTERNAL,
} satisfies Record<ErrorCode, Status>;

/** An error as the wire carries it, whatever the transport. */
export interface WireError {
  readonly status: Status;
  readonly reason: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, string>>;
  readonly retryable: boolean;
}

export function errorToWire(error: AgentTxError): WireError {
  const details: Record<string, string> = {};
  for (const [name, value] of Object.entries(error.details)) {
    if (value === null) continue;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    details[name] = text.slice(0, DETAIL_CHARS_MAX);
  }
  return {
    status: GRPC_STATUS[error.code],
    reason: error.code,
    message: error.message.slice(0, MESSAGE_CHARS_MAX).replace(UNPRINTABLE, "?"),
    details,
    retryable: error.retryable,
  };
}

/** Details come back as text; an unknown reason (a newer server) becomes INTERNAL. */
export function errorFromWire(error: {
  readonly reason: string;
  readonly message: string;
  readonly details: Readonly<Record<string, string>>;
}): AgentTxError {
  const known = Object.hasOwn(ERROR_CODES, error.reason);
  const code = known ? (error.reason as ErrorCode) : "INTERNAL";
  const details: ErrorDetails = known ? error.details : { ...error.details, reason: error.reason };
  return new AgentTxError(code, error.message, { details });
}

/** Trailers with google.rpc.ErrorInfo. */
export function errorMetadata(error: WireError): Metadata {
  const info = { reason: error.reason, domain: ERROR_DOMAIN, metadata: { ...error.details } };
  const rich = encodeMessage(RichStatus, {
    code: error.status,
    message: error.message,
    details: [{ typeUrl: INFO_TYPE, value: encodeMessage(ErrorInfo, info) }],
  });
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, rich);
  return metadata;
}

/** The ErrorInfo of our domain in a failed call's trailers, or null. Hostile bytes give null. */
export function errorInfoOf(metadata: Metadata | undefined): {
  readonly reason: string;
  readonly details: Readonly<Record<string, string>>;
} | null {
  const bytes = metadata?.get(DETAILS_KEY)[0];
  if (!(bytes instanceof Uint8Array)) return null;
  try {
    for (const detail of RichStatus.decode(bytes).details) {
      if (detail.typeUrl !== INFO_TYPE) continue;
      const info = ErrorInfo.decode(detail.value);
      if (info.domain === ERROR_DOMAIN) return { reason: info.reason, details: info.metadata };
    }
  } catch {
    // Trailers come from the other side and may be anything: then there is no info.
  }
  return null;
}
