// Goal: an id that was asked for is never new again. Method: random ids, growth, the bound.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AskedRequests } from "./asked-requests.js";

describe("the requests asked for", () => {
  it("never call an id new twice", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 })), (ids) => {
        const asked = new AskedRequests();
        for (const id of ids) asked.note(id);
        for (const id of ids) expect(asked.note(id)).toBe(true);
      }),
    );
  });

  it("call nearly every new id new, and all known beyond the bound", () => {
    const asked = new AskedRequests();
    let known = 0;
    for (let at = 0; at < 60_000; at += 1) if (asked.note(`0198c1a2-${at}`)) known += 1;
    expect(known).toBeLessThan(60);
    for (let at = 0; at < 10_000; at += 1) asked.note(`more-${at}`);
    expect(asked.note("never asked")).toBe(true);
  });
});
