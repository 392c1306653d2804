// Owns which paths are taken: relative, without tricks.

import { fsError } from "./errors.js";

/** Names that belong to the file tools: undo copies and files being written. */
export const RESERVED_PREFIX = ".agenttx-";
export const UNDO_DIRECTORY = ".agenttx-undo";

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export interface RelativePath {
  /** Names of the directories on the way, from the root. */
  readonly directories: readonly string[];
  readonly name: string;
  readonly text: string;
}

/**
 * Splits a path of `/`-separated names. Refused: absolute, empty, `.`, `..`, empty names, NUL,
 * backslashes (another separator elsewhere), ill-formed text, names reserved for the tools.
 */
export function readPath(path: string): RelativePath {
  if (path.includes("\0")) throw fsError("EINVAL", path.replaceAll("\0", "?"), "NUL in the path");
  if (LONE_SURROGATE.test(path))
    throw fsError("EINVAL", path.replace(LONE_SURROGATE, "?"), "ill-formed text");
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) {
    throw fsError("EACCES", path, "the path is absolute");
  }
  if (path.includes("\\")) throw fsError("EINVAL", path, "backslash in the path");
  const names = path.split("/");
  for (const name of names) {
    if (name === "..") throw fsError("EACCES", path, "the path leaves the root");
    if (name === "" || name === ".") throw fsError("EINVAL", path, "empty name in the path");
    if (name.toLowerCase().startsWith(RESERVED_PREFIX)) {
      throw fsError("EACCES", path, "the name is reserved");
    }
  }
  return { directories: names.slice(0, -1), name: names.at(-1) ?? "", text: path };
}
