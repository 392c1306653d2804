// Owns how a modification time is set: Node takes seconds in floating point and cuts what is below a
// microsecond, so that a time given as it is comes out a microsecond early in half of all cases.

import type { FileHandle } from "node:fs/promises";

/** Sets the time to exactly this microsecond; access time alike. Throws what the system throws. */
export async function setModified(handle: FileHandle, modifiedUs: number): Promise<void> {
  // Half a microsecond more: cut off again, and larger than any error of the division.
  const seconds = (modifiedUs + 0.5) / 1_000_000;
  await handle.utimes(seconds, seconds);
}
