// Owns what a call knows beside its request.

import { AgentTxError, type ErrorCode, isAgentTxError } from "@agenttx/model";
import type { Principal } from "../auth/principal.js";

export interface CallContext {
  readonly principal: Principal;
  /** Which face it came through, for metrics and logs. */
  readonly face: "grpc" | "session" | "http";
}

/** What may be said of our own codes whose text speaks of files and processes. */
const PRIVATE: Readonly<Partial<Record<ErrorCode, [ErrorCode, string]>>> = {
  CLOSED: ["UNAVAILABLE", "The server is stopping; send the same request to it again later."],
  STORE_CLOSED: ["UNAVAILABLE", "The server is stopping; send the same request to it again later."],
  STORE_LOCKED: ["STORE_LOCKED", "The store is in use by another process."],
  STORE_CORRUPT: ["STORE_CORRUPT", "The store is damaged; the server's log has the file."],
  STORE_POISONED: [
    "STORE_POISONED",
    "The store refuses writes after a failed one; nothing was changed. The server's log has the reason.",
  ],
  STORE_BEHIND_ANCHOR: ["STORE_BEHIND_ANCHOR", "The store has lost acknowledged writes."],
  FORMAT_TOO_NEW: ["FORMAT_TOO_NEW", "The store is of a newer format than this server."],
  ADDON_NOT_FOUND: ["INTERNAL", "The server is not installed completely."],
};

/** Our own errors pass, without paths; anything else is a bug whose text stays in the log. */
export function publicError(error: unknown, report: (error: unknown) => void): AgentTxError {
  if (isAgentTxError(error) && error.code !== "INTERNAL") {
    const instead = PRIVATE[error.code];
    if (instead === undefined) return error;
    if (error.code !== "CLOSED" && error.code !== "STORE_CLOSED") report(error);
    return new AgentTxError(...instead);
  }
  report(error);
  return new AgentTxError(
    "INTERNAL",
    "The server failed to handle this call; its log has the reason. What the call did was undone.",
  );
}
