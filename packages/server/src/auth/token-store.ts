// Owns changes of the tokens file: made whole beside it and renamed, so that a server never reads
// half a file; one writer at a time; readable by its owner alone.

import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import { makeToken, readTokens, type TokenEntry } from "./tokens.js";

/** Adds a token and returns it: the only time that anyone sees it. */
export function createToken(path: string, entry: Omit<TokenEntry, "sha256" | "revoked">): string {
  const { token, sha256 } = makeToken();
  change(path, (tokens) => {
    if (tokens.some(({ name, revoked }) => name === entry.name && !revoked)) {
      throw new AgentTxError(
        "INVALID_ARGUMENT",
        `There is a token named ${entry.name}; nothing was changed. Revoke it, or take another name.`,
        { details: { name: entry.name } },
      );
    }
    return [...tokens, { ...entry, sha256, revoked: false }];
  });
  return token;
}

/** Revokes every token of this name and returns how many were in force. Throws NOT_FOUND. */
export function revokeToken(path: string, name: string): number {
  let inForce = 0;
  change(path, (tokens) => {
    const named = tokens.filter((entry) => entry.name === name);
    if (named.length === 0) {
      throw new AgentTxError("NOT_FOUND", `There is no token named ${name}.`, {
        details: { name },
      });
    }
    inForce = named.filter(({ revoked }) => !revoked).length;
    return tokens.map((entry) => (entry.name === name ? { ...entry, revoked: true } : entry));
  });
  return inForce;
}

function change(path: string, edit: (tokens: readonly TokenEntry[]) => TokenEntry[]): void {
  const lock = `${path}.lock`;
  let held: number;
  try {
    held = openSync(lock, "wx", 0o600);
  } catch (cause) {
    throw new AgentTxError(
      "UNAVAILABLE",
      `${lock} cannot be made: another change is under way, or the folder is missing. Remove the file if nobody is changing tokens.`,
      { cause },
    );
  }
  try {
    const tokens = edit(existsSync(path) ? readTokens(path) : []);
    const next = `${path}.next`;
    writeFileSync(next, `${JSON.stringify({ tokens }, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(next, path);
  } finally {
    closeSync(held);
    rmSync(lock, { force: true });
  }
}
