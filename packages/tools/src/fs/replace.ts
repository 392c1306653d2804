// Owns changing one name in a directory: write a file beside it, then rename; or remove it.
//
//   I1 Readers see the old file or the new one, never a part.
//   I2 What is done is durable before the call resolves: file first, then the directory.
//   I3 The name is looked at again right before the change; if it no longer means what was seen,
//      nothing is changed.

import { constants } from "node:fs";
import { open, rename, unlink } from "node:fs/promises";
import type { DirectoryRef } from "./directory.js";
import { codeOf } from "./errors.js";
import { setModified } from "./file-time.js";
import { type Look, unchanged } from "./image.js";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Writes a new file, durably. An older one of this name (a crash left it) is removed first. */
export async function writeNew(
  directory: DirectoryRef,
  name: string,
  content: Uint8Array,
  as: { readonly mode: number; readonly modifiedUs: number | null },
): Promise<void> {
  await removeIfThere(directory, name);
  const handle = await open(directory.at(name), CREATE, 0o600);
  try {
    await handle.writeFile(content);
    // After the content, and not by the umask: writing may clear set-id bits.
    await handle.chmod(as.mode);
    if (as.modifiedUs !== null) await setModified(handle, as.modifiedUs);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Puts a file with this content at `name` (I1-I3). False: someone changed the name since `seen`,
 * and nothing was changed. `signal`: aborted before the rename, it throws and changes nothing.
 */
export async function replaceFile(
  directory: DirectoryRef,
  name: string,
  file: {
    readonly content: Uint8Array;
    readonly mode: number;
    readonly modifiedUs: number | null;
    readonly temporary: string;
    readonly seen: Look;
    readonly signal?: AbortSignal;
  },
): Promise<boolean> {
  try {
    await writeNew(directory, file.temporary, file.content, file);
    await directory.verify();
    if (!(await unchanged(directory, name, file.seen))) return false;
    file.signal?.throwIfAborted();
    await rename(directory.at(file.temporary), directory.at(name));
    await directory.sync();
    return true;
  } finally {
    await removeIfThere(directory, file.temporary);
  }
}

/** Removes `name` (I2, I3). False: someone changed it since `seen`, and nothing was changed. */
export async function removeFile(
  directory: DirectoryRef,
  name: string,
  seen: Look,
): Promise<boolean> {
  await directory.verify();
  if (!(await unchanged(directory, name, seen))) return false;
  await unlink(directory.at(name));
  await directory.sync();
  return true;
}

export async function removeIfThere(directory: DirectoryRef, name: string): Promise<void> {
  await unlink(directory.at(name)).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
}
