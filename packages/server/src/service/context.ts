// Owns what a call knows beside its request.

import { AgentTxError, isAgentTxError } from "@agenttx/model";
import type { Principal } from "../auth/principal.js";

export interface CallContext {
  readonly principal: Principal;
  /** Which face it came through, for metrics and logs. */
  readonly face: "grpc" | "session" | "http";
  /** Aborts when the caller is gone; only calls that change nothing listen to it (P5). */
  readonly signal: AbortSignal | null;
}

/** Our own errors pass; anything else is a bug whose text stays in the log. */
export function publicError(error: unknown, report: (error: unknown) => void): AgentTxError {
  if (isAgentTxError(error) && error.code !== "INTERNAL") return error;
  report(error);
  return new AgentTxError(
    "INTERNAL",
    "The server failed to handle this call; its log has the reason. What the call did was undone.",
  );
}
