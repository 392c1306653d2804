// Owns the digest of text that the effects side uses.

import { createHash } from "node:crypto";

/** SHA-256 of the text's UTF-8, hex. */
export function sha256Text(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
