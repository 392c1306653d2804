// Owns the undo of a file change: what is kept of the file before, and how it is brought back (E9).
//
//   W1 As owned.ts says. The version of a file is its modification time: a change sets one that it
//      chose before, an undo gives back that of the before-image, so that the undo of an earlier
//      change knows its own file again.
//   W2 The before-image is durable before the effect: small ones in the undo record, larger ones
//      as a copy below `.agenttx-undo/` in the root.
//   W3 Directories that the change made are removed again, deepest first, if nothing is in them.

import { createHash } from "node:crypto";
import { rmdir } from "node:fs/promises";
import type { JsonValue, UndoContext, UndoResult } from "@agenttx/model";
import { z } from "zod";
import { dirtyResult, type Ownership, ownershipOf } from "../owned.js";
import type { KeptFor } from "../sweep.js";
import { copyName } from "./copies.js";
import { type DirectoryOpener, type DirectoryRef, makeDirectories, walk } from "./directory.js";
import { codeOf } from "./errors.js";
import {
  ABSENT,
  describeImage,
  type Image,
  type Look,
  lookAt,
  sameImage,
  sameVersion,
} from "./image.js";
import { type RelativePath, readPath, UNDO_DIRECTORY } from "./path.js";
import { removeFile, removeIfThere, replaceFile, writeNew } from "./replace.js";

/** Before-images up to this many bytes go into the undo record itself (1 MiB). */
export const INLINE_BYTES_MAX = 1024 * 1024;

const image = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("absent") }),
  z.strictObject({
    kind: z.literal("file"),
    digest: z.string(),
    bytes: z.int(),
    mode: z.int(),
    modifiedUs: z.int().nullable().default(null),
  }),
]);

const undoArgs = z.strictObject({
  path: z.string(),
  before: image,
  after: image,
  /** Base64 of the content before, or null: absent, or copied under `copy`. */
  content: z.string().nullable(),
  copy: z.string().nullable(),
  temporary: z.string(),
  /** How many of the path's directories the change made, counted from the deepest. */
  madeDirectories: z.int().min(0),
});

export type UndoArgs = z.infer<typeof undoArgs>;

/** A name made from the key: keys may hold any character, names may not. */
export function nameFor(idempotencyKey: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,150}$/.test(idempotencyKey)) return idempotencyKey;
  return createHash("sha256").update(idempotencyKey).digest("hex");
}

/** Copies a large before-image into the undo directory, durably (W2). Returns its name. */
export async function keepCopy(
  opener: DirectoryOpener,
  keptFor: KeptFor,
  look: Look,
): Promise<string> {
  const name = copyName(keptFor, digestPart(look.image));
  const directory = await makeDirectories(opener, await opener.root(), [UNDO_DIRECTORY]);
  try {
    await writeNew(directory, name, look.content ?? Buffer.alloc(0), {
      mode: 0o600,
      modifiedUs: null,
    });
    await directory.sync();
  } finally {
    await directory.close();
  }
  return name;
}

function digestPart(of: Image): string {
  return of.kind === "absent" ? "absent" : of.digest.slice(0, 16);
}

/** The undo action `restore` of file tools; tolerates "never happened" and "already undone". */
export function restoreAction(opener: () => Promise<DirectoryOpener>, bytesMax: number) {
  return async (raw: JsonValue, context: UndoContext): Promise<UndoResult> => {
    const args = undoArgs.parse(raw);
    const path = readPath(args.path);
    const openBelow = await opener();
    const { directory, missing } = await walk(openBelow, path.directories);
    try {
      if (missing.length > 0) {
        if (owned(args, ABSENT) !== "as-before") return dirty(args, "no directory");
        await removeMade(openBelow, path, args.madeDirectories);
        return { status: "already-undone" };
      }
      return await restoreIn(openBelow, directory, path, args, {
        bytesMax,
        signal: context.signal,
      });
    } finally {
      await directory.close();
    }
  };
}

function owned(args: UndoArgs, found: Image): Ownership {
  const { before, after } = args;
  return ownershipOf<Image>({ found, before, after, same: sameImage, sameVersion });
}

function dirty(args: UndoArgs, found: string): UndoResult {
  return dirtyResult(describeImage(args.after), found);
}

async function restoreIn(
  opener: DirectoryOpener,
  directory: DirectoryRef,
  path: RelativePath,
  args: UndoArgs,
  how: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<UndoResult> {
  await removeIfThere(directory, args.temporary);
  let look: Look;
  try {
    look = await lookAt(directory, path.name, path.text, how.bytesMax);
  } catch (error) {
    // A link, a directory, a device, a second name: not what we wrote.
    const code = codeOf(error);
    if (code === null || !["ELOOP", "EISDIR", "EPERM", "EMLINK", "EFBIG"].includes(code))
      throw error;
    return dirty(args, error instanceof Error ? error.message : code);
  }
  const ownership = owned(args, look.image);
  if (ownership === "theirs") return dirty(args, describeImage(look.image));
  const ours = ownership === "ours";
  if (ours && !(await putBack(opener, directory, path, args, look, how.signal))) {
    return dirty(args, "a file that changed while it was being restored");
  }
  await dropCopy(opener, args);
  await removeMade(opener, path, args.madeDirectories);
  return { status: ours ? "undone" : "already-undone" };
}

async function putBack(
  opener: DirectoryOpener,
  directory: DirectoryRef,
  path: RelativePath,
  args: UndoArgs,
  seen: Look,
  signal: AbortSignal,
): Promise<boolean> {
  if (args.before.kind === "absent") return removeFile(directory, path.name, seen);
  const content = await contentBefore(opener, args);
  return replaceFile(directory, path.name, {
    content,
    mode: args.before.mode,
    modifiedUs: args.before.modifiedUs,
    temporary: args.temporary,
    seen,
    signal,
  });
}

async function contentBefore(opener: DirectoryOpener, args: UndoArgs): Promise<Uint8Array> {
  if (args.content !== null) return Buffer.from(args.content, "base64");
  const { directory } = await walk(opener, [UNDO_DIRECTORY]);
  try {
    const name = args.copy ?? "";
    const { content, image: kept } = await lookAt(directory, name, name, Number.MAX_SAFE_INTEGER);
    if (content === null || !sameContent(kept, args.before)) {
      throw new Error(`the copy of ${args.path} from before the change is missing or damaged`);
    }
    return content;
  } finally {
    await directory.close();
  }
}

function sameContent(one: Image, other: Image): boolean {
  return one.kind === "file" && other.kind === "file" && one.digest === other.digest;
}

async function dropCopy(opener: DirectoryOpener, args: UndoArgs): Promise<void> {
  if (args.copy === null) return;
  const { directory, missing } = await walk(opener, [UNDO_DIRECTORY]);
  try {
    if (missing.length === 0) await removeIfThere(directory, args.copy);
  } finally {
    await directory.close();
  }
}

/** Removes the last `count` directories of the path while they are empty (W3). */
async function removeMade(
  opener: DirectoryOpener,
  path: RelativePath,
  count: number,
): Promise<void> {
  const names = path.directories;
  for (let depth = names.length; depth > names.length - count; depth -= 1) {
    const { directory, missing } = await walk(opener, names.slice(0, depth - 1));
    try {
      if (missing.length > 0) continue;
      await directory.verify();
      await rmdir(directory.at(names[depth - 1] ?? ""));
      await directory.sync();
    } catch (error) {
      // Someone put a file there, or removed it already: not ours to touch.
      if (!["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) throw error;
      if (codeOf(error) !== "ENOENT") return;
    } finally {
      await directory.close();
    }
  }
}
