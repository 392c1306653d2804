// Owns rule E9, for every adapter: what an undo may do to a thing that somebody else may have
// changed since. Pure.
//
//   O1 A version that the owner keeps decides where there is one: it also tells a thing that was
//      changed and changed back. Without one the after-image decides.
//   O2 As we left it: undo. As it was before: nothing to do. Anything else is somebody else's: it
//      is not touched, and both versions are reported.

import type { UndoResult } from "@agenttx/model";

export type Ownership = "ours" | "as-before" | "theirs";

export interface OwnedThing<Image> {
  readonly found: Image;
  readonly before: Image;
  readonly after: Image;
  readonly same: (one: Image, other: Image) => boolean;
  /** Is `found` the very version we left (an ETag, a stamp)? null: the owner keeps no version. */
  readonly sameVersion?: (found: Image, after: Image) => boolean | null;
}

/** Whose thing it is now (O1, O2). */
export function ownershipOf<Image>(thing: OwnedThing<Image>): Ownership {
  const { found, before, after, same } = thing;
  const version = thing.sameVersion?.(found, after) ?? true;
  if (version && same(found, after)) return "ours";
  return same(found, before) ? "as-before" : "theirs";
}

/** The answer that leaves the decision to a person: what we left, what is there now. */
export function dirtyResult(expected: string, found: string): UndoResult {
  return { status: "dirty", expected, found };
}
