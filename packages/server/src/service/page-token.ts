// Owns page tokens: opaque to clients, bound to what they page through. A foreign or damaged one is
// refused, never read as another position.

import { AgentTxError } from "@agenttx/model";

/** `scope` names the list, its tenant and its filter; the same scope must be given to read the token. */
export function makePageToken(scope: string, position: string): string {
  return Buffer.from(JSON.stringify([scope, position])).toString("base64url");
}

/** The position in a token, or undefined for the first page (""). */
export function readPageToken(scope: string, token: string): string | undefined {
  if (token === "") return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed[0] === scope && typeof parsed[1] === "string") {
      return parsed[1];
    }
  } catch {
    // Falls through: not a token of ours.
  }
  throw new AgentTxError("INVALID_ARGUMENT", "This page token is not of this list.");
}

/** A position that counts entries; a token that holds no count is refused. */
export function readCount(scope: string, token: string): number {
  const position = readPageToken(scope, token);
  if (position === undefined) return 0;
  if (/^\d{1,9}$/.test(position)) return Number(position);
  throw new AgentTxError("INVALID_ARGUMENT", "This page token is not of this list.");
}

/** Default 100, at most 1,000. */
export function pageSize(asked: number): number {
  if (asked === 0) return 100;
  return Math.min(asked, 1_000);
}
