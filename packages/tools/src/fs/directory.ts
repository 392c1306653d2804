// Owns the way to a directory below the root that no symbolic link can bend.
//
//   D1 A directory is reached name by name from the root; a symbolic link on the way is refused.
//   D2 On Linux each one is held open, and names are resolved against the descriptor
//      (`/proc/self/fd/N/name`): what is swapped behind us is not followed.
//   D3 Elsewhere the real path is compared before and after; the window between is narrow, not
//      closed. The README says so.

import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { codeOf, fsError } from "./errors.js";

/** A directory at or below the root. Close it. */
export interface DirectoryRef {
  /** What system calls take to mean `name` in this directory. */
  at(name: string): string;
  /** Throws EACCES when the directory is no longer where it was. */
  verify(): Promise<void>;
  /** Makes earlier changes of names in it durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the root and directories below it. */
export interface DirectoryOpener {
  root(): Promise<DirectoryRef>;
  /** Throws ENOENT, ENOTDIR or ELOOP. */
  child(parent: DirectoryRef, name: string): Promise<DirectoryRef>;
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The opener for this platform. `root` must exist; it may itself be reached by links. */
export async function directoryOpener(root: string): Promise<DirectoryOpener> {
  const real = await realpath(root);
  if (process.platform === "linux" && existsSync("/proc/self/fd")) return heldOpener(real);
  return comparedOpener(real);
}

function inside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function heldOpener(root: string): DirectoryOpener {
  const held = (handle: FileHandle): DirectoryRef => ({
    at: (name) => `/proc/self/fd/${handle.fd}/${name}`,
    verify: async () => {
      const now = await readlink(`/proc/self/fd/${handle.fd}`);
      if (!inside(root, now))
        throw fsError("EACCES", ".", "the directory was moved out of the root");
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  });
  return {
    root: async () => held(await open(root, DIRECTORY)),
    child: async (parent, name) => held(await open(parent.at(name), DIRECTORY)),
  };
}

/** Portable: real paths, compared (D3). Exported for its tests. */
export function comparedOpener(root: string): DirectoryOpener {
  const compared = (path: string): DirectoryRef => ({
    at: (name) => join(path, name),
    verify: async () => {
      if ((await realpath(path)) !== path || !inside(root, path)) {
        throw fsError("EACCES", ".", "the directory was moved");
      }
    },
    sync: async () => {
      const handle = await open(path, constants.O_RDONLY);
      try {
        await handle.sync();
      } catch (error) {
        // Windows cannot sync a directory; its file system journals names by itself.
        if (codeOf(error) !== "EPERM" && codeOf(error) !== "EINVAL") throw error;
      } finally {
        await handle.close();
      }
    },
    close: async () => {},
  });
  return {
    root: async () => compared(root),
    child: async (parent, name) => {
      const path = parent.at(name);
      const stat = await lstat(path);
      if (stat.isSymbolicLink()) throw fsError("ELOOP", name, "a symbolic link");
      if (!stat.isDirectory()) throw fsError("ENOTDIR", name);
      const ref = compared(path);
      await ref.verify();
      return ref;
    },
  };
}

/** The deepest existing directory on the way, and the names that are missing below it. */
export interface Walk {
  readonly directory: DirectoryRef;
  readonly missing: readonly string[];
}

/** Walks down as far as there are directories. Throws ELOOP or ENOTDIR at anything else (D1). */
export async function walk(opener: DirectoryOpener, names: readonly string[]): Promise<Walk> {
  let directory = await opener.root();
  for (const [index, name] of names.entries()) {
    try {
      const next = await opener.child(directory, name);
      await directory.close();
      directory = next;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return { directory, missing: names.slice(index) };
      await directory.close();
      throw error;
    }
  }
  return { directory, missing: [] };
}

/** Makes the missing directories, durably, and goes down into the last. Closes `from`. */
export async function makeDirectories(
  opener: DirectoryOpener,
  from: DirectoryRef,
  names: readonly string[],
): Promise<DirectoryRef> {
  let directory = from;
  for (const name of names) {
    try {
      await directory.verify();
      await mkdir(directory.at(name)).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      await directory.sync();
      const next = await opener.child(directory, name);
      await directory.close();
      directory = next;
    } catch (error) {
      await directory.close();
      throw error;
    }
  }
  return directory;
}
