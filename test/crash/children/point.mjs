// Owns a victim's fault points: those of the testkit, by names that tell work from recovery. A
// victim that hunts dies at the first point of its half that nobody died at before.
import { faultPoint, processFaults } from "@agenttx/testkit";
import { say } from "./say.mjs";

let phase = "recovery";
let quarry = null;

/**
 * `known`: points that are passed alive. `half`: 0 or 1, so that two hunters share the work; null for
 * every point.
 */
export function hunt({ known, half }) {
  quarry = { known: new Set(known), half };
}

export function beginWork() {
  phase = "work";
}

export function point(name) {
  const full = `${phase} ${name}`;
  if (quarry !== null && isInHalf(name) && !quarry.known.has(full)) {
    say({ k: "dies", point: full });
    processFaults().arm(full, { kind: "kill" });
  }
  return faultPoint(full);
}

function isInHalf(name) {
  return quarry.half === null || halfOf(name) === quarry.half;
}

/** Both sides of a write, in work and in recovery, are in one half. */
function halfOf(name) {
  let sum = 0;
  for (const letter of name.replace(/^(before|after) /, "")) sum += letter.charCodeAt(0);
  return sum % 2;
}
