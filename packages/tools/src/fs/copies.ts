// Owns the copies of large before-images in `.agenttx-undo/`: their names, which say whose they
// are, and the sweep of those that nobody needs any more.

import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import type { IsOpen, KeptFor } from "../sweep.js";
import { type DirectoryOpener, walk } from "./directory.js";
import { UNDO_DIRECTORY } from "./path.js";
import { removeIfThere } from "./replace.js";

const SEPARATOR = "~";
/** What most file systems let a name have, less what a number of them takes away. */
const NAME_MAX = 200;

function part(text: string): string {
  return encodeURIComponent(text).replaceAll(SEPARATOR, "%7E");
}

/** `namespace~transaction~key~digest`. Too long for a name: a hash, which no sweep removes. */
export function copyName({ namespace, transaction, idempotencyKey }: KeptFor, digest: string) {
  const name = [...[namespace, transaction, idempotencyKey].map(part), digest].join(SEPARATOR);
  if (name.length <= NAME_MAX) return name;
  return `${createHash("sha256").update(name).digest("hex")}.${digest}`;
}

/** Whose copy it is; null for a name that does not say. */
function keptForOf(name: string): KeptFor | null {
  const parts = name.split(SEPARATOR);
  if (parts.length !== 4) return null;
  try {
    const [namespace = "", transaction = "", idempotencyKey = ""] = parts.map(decodeURIComponent);
    return { namespace, transaction, idempotencyKey };
  } catch {
    // Not one of ours: somebody put a file there.
    return null;
  }
}

/** Removes the copies of effects that are settled for good. Returns how many. */
export async function sweepCopies(opener: DirectoryOpener, isOpen: IsOpen): Promise<number> {
  const { directory, missing } = await walk(opener, [UNDO_DIRECTORY]);
  let removed = 0;
  try {
    if (missing.length > 0) return 0;
    for (const name of await readdir(directory.at("."))) {
      const keptFor = keptForOf(name);
      if (keptFor === null || (await isOpen(keptFor))) continue;
      await directory.verify();
      await removeIfThere(directory, name);
      removed += 1;
    }
    if (removed > 0) await directory.sync();
    return removed;
  } finally {
    await directory.close();
  }
}
