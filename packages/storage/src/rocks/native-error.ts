// Owns the one translation of an error of the addon into the error class of all packages.

import type { ErrorCode } from "@agenttx/model";
import { AgentTxError, ERROR_CODES, isAgentTxError, WriteConflictError } from "@agenttx/model";
import { readKeys } from "./result-reader.js";

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERROR_CODES, code);
}

/** Coded errors pass through; an error without a known code becomes INTERNAL with its cause. */
export function toAgentTxError(error: unknown): AgentTxError {
  if (isAgentTxError(error)) return error;
  const { code, conflictKeys, message } = Object(error) as Partial<
    Record<"code" | "conflictKeys" | "message", unknown>
  >;
  if (!isErrorCode(code)) {
    return new AgentTxError("INTERNAL", `The storage driver failed: ${String(message ?? error)}`, {
      cause: error,
    });
  }
  if (code === "WRITE_CONFLICT") {
    return new WriteConflictError(conflictKeys instanceof Uint8Array ? readKeys(conflictKeys) : []);
  }
  return new AgentTxError(code, String(message));
}
