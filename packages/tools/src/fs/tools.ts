// Owns fs.write, fs.read and fs.delete: files below one root, with undo.
//
//   F1 Nothing outside the root is read or changed, whatever the path and whoever swaps links.
//   F2 The undo is durable before the first change, directories included (E4).
//   F3 A change is one rename or one unlink: it happened or it did not.

import type { LookupResult, ToolContext } from "@agenttx/model";
import { z } from "zod";
import { certifiedByBuild } from "../adapter-kit/mark.js";
import type { IsOpen } from "../sweep.js";
import { tool } from "../tool.js";
import { sweepCopies } from "./copies.js";
import { type DirectoryOpener, directoryOpener, makeDirectories, walk } from "./directory.js";
import { fsError, withoutRoot } from "./errors.js";
import {
  ABSENT,
  digestOf,
  type Image,
  type Look,
  lookAt,
  newModification,
  sameImage,
} from "./image.js";
import { type RelativePath, readPath } from "./path.js";
import { removeFile, replaceFile } from "./replace.js";
import { INLINE_BYTES_MAX, keepCopy, nameFor, restoreAction, type UndoArgs } from "./undo.js";

export interface FsOptions {
  /** Directory that the tools are confined to. It must exist when the first tool runs. */
  readonly root: string;
  /** Largest file that is read, replaced or deleted, in bytes. Default 64 MiB. */
  readonly bytesMax?: number;
  /** Permission bits of new files. Default 0o644. */
  readonly mode?: number;
}

/** What the three tools share. `opener` is replaced by tests of the portable way. */
export interface FsSettings {
  readonly opener: () => Promise<DirectoryOpener>;
  readonly bytesMax: number;
  readonly mode: number;
}

const path = z.string().min(1).describe("Path relative to the root, with / between names");
const encoding = z.enum(["utf8", "base64"]).optional().describe("utf8 by default");

interface Change {
  readonly path: RelativePath;
  readonly after: (before: Look) => Image;
  readonly directories: "make" | "require";
  readonly content: Buffer | null;
}

/** Calls that run in this process, by idempotency key: a lookup waits for them (E5). */
type Running = Map<string, Promise<unknown>>;

async function change(
  settings: FsSettings,
  context: ToolContext,
  { path: target, after: afterOf, directories, content }: Change,
): Promise<Image> {
  const opener = await settings.opener();
  const walked = await walk(opener, target.directories).catch((error: unknown) => {
    throw withoutRoot(error, target.text, true);
  });
  let { directory } = walked;
  let changing = false;
  try {
    const { missing } = walked;
    if (missing.length > 0 && directories === "require") throw fsError("ENOENT", target.text);
    const seen: Look =
      missing.length > 0
        ? { image: ABSENT, content: null, identity: "absent" }
        : await lookAt(directory, target.name, target.text, settings.bytesMax);
    const after = afterOf(seen);
    const temporary = `.agenttx-tmp-${nameFor(context.idempotencyKey)}`;
    context.signal.throwIfAborted();
    await registerRestore(opener, context, {
      target,
      seen,
      after,
      temporary,
      made: missing.length,
    });
    context.signal.throwIfAborted();
    changing = true;
    directory = await makeDirectories(opener, directory, missing);
    const done =
      content === null || after.kind === "absent"
        ? await removeFile(directory, target.name, seen)
        : await replaceFile(directory, target.name, {
            content,
            mode: after.mode,
            modifiedUs: after.modifiedUs,
            temporary,
            seen,
            signal: context.signal,
          });
    if (!done) throw new Error(`EBUSY: '${target.text}' was changed by someone else meanwhile`);
    return after;
  } catch (error) {
    throw withoutRoot(error, target.text, !changing);
  } finally {
    await directory.close();
  }
}

async function registerRestore(
  opener: DirectoryOpener,
  context: ToolContext,
  of: {
    readonly target: RelativePath;
    readonly seen: Look;
    readonly after: Image;
    readonly temporary: string;
    readonly made: number;
  },
): Promise<void> {
  const { content } = of.seen;
  const inline = content !== null && content.byteLength <= INLINE_BYTES_MAX;
  const copied = content !== null && !inline;
  const args: UndoArgs = {
    path: of.target.text,
    before: of.seen.image,
    after: of.after,
    content: inline ? content.toString("base64") : null,
    copy: copied ? await keepCopy(opener, context, of.seen) : null,
    temporary: of.temporary,
    madeDirectories: of.made,
  };
  await context.registerUndo("restore", { ...args });
}

/**
 * Did the change take place? Landed, with its output, when the file is as it was to be: whoever
 * made it so, what the step promised holds.
 */
async function lookup<Output>(
  settings: FsSettings,
  running: Running,
  of: {
    readonly target: string;
    readonly key: string;
    readonly landed: (image: Image) => boolean;
    readonly output: Output;
  },
): Promise<LookupResult<Output>> {
  const call = running.get(of.key);
  await call?.catch(() => undefined);
  const target = readPath(of.target);
  const { directory, missing } = await walk(await settings.opener(), target.directories);
  try {
    const image =
      missing.length > 0
        ? ABSENT
        : (await lookAt(directory, target.name, target.text, settings.bytesMax)).image;
    if (of.landed(image)) return { status: "landed", output: of.output };
    return { status: "absent", final: call !== undefined };
  } finally {
    await directory.close();
  }
}

async function tracked<Result>(running: Running, key: string, call: Promise<Result>) {
  running.set(key, call);
  try {
    return await call;
  } finally {
    running.delete(key);
  }
}

function writeTool(settings: FsSettings, running: Running) {
  const contentOf = (args: { content: string; encoding?: "utf8" | "base64" | undefined }): Buffer =>
    Buffer.from(args.content, args.encoding ?? "utf8");
  return tool({
    name: "fs.write",
    description: "Writes a file below the root; directories on the way are made",
    version: "1",
    schema: z.strictObject({ path, content: z.string(), encoding }),
    effect: "reversible",
    execute: (args, context) => {
      const content = contentOf(args);
      const digest = digestOf(content);
      const after = ({ image }: Look): Image => ({
        kind: "file",
        digest,
        bytes: content.byteLength,
        mode: image.kind === "file" ? image.mode : settings.mode,
        modifiedUs: newModification(),
      });
      if (content.byteLength > settings.bytesMax) throw fsError("EFBIG", args.path);
      const target = readPath(args.path);
      const call = change(settings, context, {
        path: target,
        after,
        directories: "make",
        content,
      }).then(() => ({ path: args.path, bytes: content.byteLength, sha256: digest }));
      return tracked(running, context.idempotencyKey, call);
    },
    undo: { restore: restoreAction(settings.opener, settings.bytesMax) },
    lookup: ({ args, idempotencyKey }) => {
      const content = contentOf(args);
      const output = { path: args.path, bytes: content.byteLength, sha256: digestOf(content) };
      const landed = (image: Image): boolean =>
        image.kind === "file" && image.digest === output.sha256;
      return lookup(settings, running, { target: args.path, key: idempotencyKey, landed, output });
    },
  });
}

function deleteTool(settings: FsSettings, running: Running) {
  return tool({
    name: "fs.delete",
    description: "Deletes a file below the root",
    version: "1",
    schema: z.strictObject({ path }),
    effect: "reversible",
    execute: (args, context) => {
      const after = ({ image }: Look): Image => {
        if (image.kind === "absent") throw fsError("ENOENT", args.path);
        return ABSENT;
      };
      const target = readPath(args.path);
      const call = change(settings, context, {
        path: target,
        after,
        directories: "require",
        content: null,
      }).then(() => ({ path: args.path }));
      return tracked(running, context.idempotencyKey, call);
    },
    undo: { restore: restoreAction(settings.opener, settings.bytesMax) },
    lookup: ({ args, idempotencyKey }) => {
      const landed = (image: Image): boolean => sameImage(image, ABSENT);
      const output = { path: args.path };
      return lookup(settings, running, { target: args.path, key: idempotencyKey, landed, output });
    },
  });
}

function readTool(settings: FsSettings) {
  return tool({
    name: "fs.read",
    description: "Reads a file below the root",
    version: "1",
    schema: z.strictObject({ path, encoding }),
    effect: "read-only",
    execute: async (args) => {
      const target = readPath(args.path);
      try {
        const { directory, missing } = await walk(await settings.opener(), target.directories);
        try {
          if (missing.length > 0) throw fsError("ENOENT", args.path);
          const look = await lookAt(directory, target.name, args.path, settings.bytesMax);
          if (look.content === null) throw fsError("ENOENT", args.path);
          await directory.verify();
          const content = decode(look.content, args.encoding ?? "utf8", args.path);
          return { path: args.path, content, bytes: look.content.byteLength };
        } finally {
          await directory.close();
        }
      } catch (error) {
        throw withoutRoot(error, args.path, true);
      }
    },
  });
}

function decode(content: Buffer, as: "utf8" | "base64", of: string): string {
  if (as === "base64") return content.toString("base64");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw fsError("EINVAL", of, "the file is not UTF-8 text; ask for base64");
  }
}

/** The three tools over settings; `fsTools` fills them in. */
export function fsToolsOver(settings: FsSettings) {
  const running: Running = new Map();
  const [write, remove] = [writeTool(settings, running), deleteTool(settings, running)];
  return [certifiedByBuild(write), readTool(settings), certifiedByBuild(remove)] as const;
}

/**
 * `fs.write { path, content, encoding }` -> `{ path, bytes, sha256 }`,
 * `fs.read { path, encoding }` -> `{ path, content, bytes }`, `fs.delete { path }` -> `{ path }`.
 * Confined to `root` (F1). Refused: absolute paths, `..`, links, files with a second name, anything
 * but regular files. Undo never overwrites what someone else has changed since (E9).
 */
export function fsTools(options: FsOptions) {
  let opening: Promise<DirectoryOpener> | null = null;
  const opener = (): Promise<DirectoryOpener> => {
    opening ??= directoryOpener(options.root).catch((error: unknown) => {
      opening = null;
      throw withoutRoot(error, ".", true);
    });
    return opening;
  };
  const tools = fsToolsOver({
    opener,
    bytesMax: options.bytesMax ?? 64 * 1024 * 1024,
    mode: options.mode ?? 0o644,
  });
  return Object.assign(tools, {
    /**
     * Removes copies of before-images whose effect is settled for good; see `IsOpen`. Those of an
     * undo go with it; this is for what was committed, and for what a crash left. Returns how many.
     */
    sweep: async (isOpen: IsOpen): Promise<number> => sweepCopies(await opener(), isOpen),
  });
}
