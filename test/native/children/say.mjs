// Owns how children speak: one synchronous write per line, so that a kill never loses a line that
// the child believes it has said.
import { writeSync } from "node:fs";

export function say(line) {
  writeSync(1, `${line}\n`);
}
