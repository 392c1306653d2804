// Goal: long work never holds the event loop for 5 ms. Method: the longest gap between two turns
// while 100,000 keys are committed, restored or scanned, best of several rounds: on a busy machine
// any round can lose its processor, but work on the main thread would show in every one.

import { describe, expect, it } from "vitest";
import { runChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ROUNDS = 5;
const GAP_MS_MAX = 5;

describe("the event loop", () => {
  for (const kind of ["commit", "restore", "scan"]) {
    it(`is free during a ${kind} of 100,000 keys`, { timeout: 120_000 }, async () => {
      const path = await temporaryDirectory();
      const child = await runChild(
        "event-loop-delay.mjs",
        [path, kind, String(ROUNDS)],
        // Room for all that a round makes: what is measured is our work, not V8's collections.
        ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"],
      );
      expect(child).toMatchObject({ code: 0, signal: null });
      const rounds = child.lines.map(
        (line) => JSON.parse(line) as { readonly delayMs: number; readonly workMs: number },
      );
      expect(rounds.length).toBe(ROUNDS);
      // The work is long enough that it would have been noticed.
      expect(Math.min(...rounds.map(({ workMs }) => workMs))).toBeGreaterThan(2 * GAP_MS_MAX);
      expect(Math.min(...rounds.map(({ delayMs }) => delayMs))).toBeLessThan(GAP_MS_MAX);
    });
  }
});
