// Owns what a file looks like: the image that before and after are compared by (E9).

import { createHash, randomInt } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import type { DirectoryRef } from "./directory.js";
import { codeOf, fsError } from "./errors.js";

/** State of a name: nothing there, or a file with this content and these permission bits. */
export type Image =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      /** SHA-256 of the content, hex. */
      readonly digest: string;
      readonly bytes: number;
      readonly mode: number;
      /** Modification time in microseconds; null in records of before it was kept. */
      readonly modifiedUs: number | null;
    };

/** An image, its content, and the identity that tells whether the name still means this file. */
export interface Look {
  readonly image: Image;
  readonly content: Buffer | null;
  readonly identity: string;
}

export const ABSENT: Image = { kind: "absent" };

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function sameImage(one: Image, other: Image): boolean {
  if (one.kind === "absent" || other.kind === "absent") return one.kind === other.kind;
  return one.digest === other.digest && one.mode === other.mode;
}

/** Clock steps of file systems: the finest is shared by none, the coarsest is that of FAT. */
const COARSE_US = [1_000_000, 2_000_000];
/** What the way through seconds in floating point costs. */
const ROUNDING_US = 4;

/**
 * Is it the very version that was left, by its modification time? A write of anybody else sets
 * another one, also when the content is the same again. null: there is no time to compare.
 */
export function sameVersion(found: Image, left: Image): boolean | null {
  if (found.kind === "absent" || left.kind === "absent") return null;
  const [now, then] = [found.modifiedUs, left.modifiedUs];
  if (now === null || then === null) return null;
  if (Math.abs(now - then) <= ROUNDING_US) return true;
  return COARSE_US.some((step) => now === Math.floor(then / step) * step);
}

/** The nearest microsecond: what a record keeps of a file system's time. */
export function modifiedUsOf(stat: BigIntStats): number {
  return Number((stat.mtimeNs + 500n) / 1_000n);
}

/** A modification time for a file that is about to be written: now, a millisecond ago at most. */
export function newModification(): number {
  return (Date.now() - 1) * 1_000 + randomInt(1_000);
}

/** For people: what was expected and what was found. */
export function describeImage(image: Image): string {
  if (image.kind === "absent") return "no file";
  const at = image.modifiedUs === null ? "" : `, of ${timeOf(image.modifiedUs)}`;
  return `file of ${image.bytes} bytes, mode ${image.mode.toString(8)}, sha256 ${image.digest}${at}`;
}

/** ISO time with microseconds. */
function timeOf(us: number): string {
  const iso = new Date(us / 1_000).toISOString().slice(0, -1);
  return `${iso}${String(us % 1_000).padStart(3, "0")}Z`;
}

/** Inode, change time and size: differs when anyone has touched the file in between. */
function identityOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.ctimeNs}:${stat.size}`;
}

function checkKind(stat: BigIntStats, path: string, bytesMax: number): void {
  if (stat.isSymbolicLink()) throw fsError("ELOOP", path, "a symbolic link");
  if (stat.isDirectory()) throw fsError("EISDIR", path);
  if (!stat.isFile()) throw fsError("EPERM", path, "not a regular file");
  if (stat.nlink > 1n) throw fsError("EMLINK", path, "the file has another name");
  if (stat.size > BigInt(bytesMax)) throw fsError("EFBIG", path, `at most ${bytesMax} bytes`);
}

/**
 * Reads the file of this name without following a link and without opening anything but a regular
 * file: a FIFO would block, a device may act. A file with a second name (hard link) is refused: its
 * content may belong outside. Throws ELOOP, EISDIR, EPERM, EMLINK, EFBIG.
 */
export async function lookAt(
  directory: DirectoryRef,
  name: string,
  path: string,
  bytesMax: number,
): Promise<Look> {
  let before: BigIntStats;
  try {
    before = await lstat(directory.at(name), { bigint: true });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return { image: ABSENT, content: null, identity: "absent" };
  }
  checkKind(before, path, bytesMax);
  const handle = await open(directory.at(name), READ);
  try {
    const stat = await handle.stat({ bigint: true });
    checkKind(stat, path, bytesMax);
    const content = await handle.readFile();
    return {
      image: {
        kind: "file",
        digest: digestOf(content),
        bytes: content.byteLength,
        mode: Number(stat.mode & 0o7777n),
        modifiedUs: modifiedUsOf(stat),
      },
      content,
      identity: identityOf(stat),
    };
  } finally {
    await handle.close();
  }
}

/** True while the name still means what `look` saw, by inode and change time. */
export async function unchanged(
  directory: DirectoryRef,
  name: string,
  look: Look,
): Promise<boolean> {
  try {
    const now = await lstat(directory.at(name), { bigint: true });
    return identityOf(now) === look.identity;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return look.identity === "absent";
    throw error;
  }
}
