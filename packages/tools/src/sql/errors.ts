// Owns the errors of sql tools. SQLite's own words stay, so that hints can read them.

import { DefiniteFailure } from "@agenttx/model";

/** Code of a SQLite error (`SQLITE_BUSY`, `SQLITE_CONSTRAINT_UNIQUE`), or null. */
export function sqliteCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  const { code } = error;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

export function isConstraint(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_CONSTRAINT") === true;
}

/** A refusal: certainly nothing happened. */
export function refusal(message: string): DefiniteFailure {
  return new DefiniteFailure(message);
}

const UNCERTAIN = /^SQLITE_(IOERR|FULL|CORRUPT|NOTADB|NOMEM|INTERNAL|PROTOCOL)/;

/**
 * An error of a transaction that was rolled back: certainly nothing happened, except where the
 * disk itself failed; then the effect table tells.
 */
export function rolledBack(error: unknown): unknown {
  if (error instanceof DefiniteFailure) return error;
  const code = sqliteCode(error);
  if (code === null && !(error instanceof RangeError || error instanceof TypeError)) return error;
  if (code !== null && UNCERTAIN.test(code)) return error;
  const message = error instanceof Error ? error.message : String(code);
  const failure = new DefiniteFailure(message, { cause: error });
  return code === null ? failure : Object.assign(failure, { code });
}
