// Owns how a victim speaks: one synchronous write per line, so that a kill never loses a line that
// the victim believes it has said.
import { writeSync } from "node:fs";

let left = null;

/** `leave` is called once, when so many lines more have been said. */
export function leaveAfter(lines, leave) {
  left = { lines, leave };
}

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
  if (left === null) return;
  left.lines -= 1;
  if (left.lines > 0) return;
  const { leave } = left;
  left = null;
  leave();
}
