// Owns the errors of file tools. Paths in them are relative to the root: where the root lies is
// nobody's business. Refusals are definite: they are thrown before the effect.

import { DefiniteFailure } from "@agenttx/model";

const REASONS = {
  EACCES: "permission denied",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
  EMLINK: "too many links",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  EPERM: "operation not permitted",
  EXDEV: "cross-device link not permitted",
} as const;

export type FsErrorCode = keyof typeof REASONS;

/** Worded as Node words it: `ENOENT: no such file or directory, open 'a/b'`. */
export function fsError(code: FsErrorCode, path: string, note?: string): DefiniteFailure {
  const reason = note === undefined ? REASONS[code] : `${REASONS[code]} (${note})`;
  return Object.assign(new DefiniteFailure(`${code}: ${reason}, open '${path}'`), { code });
}

/** `code` of a system error, or null. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/**
 * A system error in our words, so that no absolute path gets out. `definite`: nothing was changed
 * yet. What is in our words already, or is no system error, is returned as it is.
 */
export function withoutRoot(error: unknown, path: string, definite: boolean): unknown {
  const code = codeOf(error);
  if (error instanceof DefiniteFailure || code === null || !/^E[A-Z0-9]+$/.test(code)) return error;
  const reason = code in REASONS ? REASONS[code as FsErrorCode] : "system error";
  const message = `${code}: ${reason}, open '${path}'`;
  return Object.assign(definite ? new DefiniteFailure(message) : new Error(message), { code });
}
