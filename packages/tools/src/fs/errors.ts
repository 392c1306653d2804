// Owns the errors of file tools. Paths in them are relative to the root: where the root lies is
// nobody's business. All are definite: they are thrown before the effect.

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

/** The same error in our words when its code is known, so that no absolute path gets out. */
export function withoutRoot(error: unknown, path: string): unknown {
  const code = codeOf(error);
  return code !== null && code in REASONS ? fsError(code as FsErrorCode, path) : error;
}
