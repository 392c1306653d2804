// Owns how a victim speaks: one synchronous write per line, so that a kill never loses a line that
// the victim believes it has said.
import { writeSync } from "node:fs";

export function say(line) {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // The pipe is full for a moment; the driver reads on.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
