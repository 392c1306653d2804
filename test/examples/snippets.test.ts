// Goal: every example to copy runs, says what its comments promise, and cleans up behind itself.

import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startExample } from "./example-process.js";

const SAYS: Readonly<Record<string, readonly string[]>> = {
  "quickstart.mjs": [
    "ROLLBACK_TRIGGERED: DEPENDENCY_JUMP to step 1",
    "the hint blames customer_id; bookings left: 0",
    "COMMITTED: 3 steps, bookings: 1",
  ],
  "storage-restore.mjs": [
    "inside, before the restore: for the wrong customer",
    "outside: nothing",
    "restored: 2 writes reverted",
    "inside, after the restore: nothing",
    "committed: 20 in stock, an order for the right customer",
  ],
  "policy-alone.mjs": [
    "DEPENDENCY_JUMP to step 1",
    "costs 3 steps, 9 left",
    "LOCAL_BACKTRACK to step 1",
  ],
  "hints-alone.mjs": [
    "foreign_key_violation  key=customer_id  retryable=false",
    "rate_limited  key=null  retryable=true",
  ],
  "freeze-and-resolve.mjs": [
    "step 2: FAILED, RECONCILIATION_REQUIRED",
    "the transaction is FROZEN",
    "unresolved: step 1, parcel.ship, owner warehouse",
    "the effect is resolved, the transaction ACTIVE at step 1",
  ],
};

describe("examples/snippets", () => {
  it("has a promise here for each file", () => {
    const folder = new URL("../../examples/snippets/", import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith(".mjs"));
    expect(files.sort()).toEqual(Object.keys(SAYS).sort());
  });

  it.each(Object.entries(SAYS))(
    "%s says what it should and leaves nothing",
    async (file, lines) => {
      const run = await startExample(`snippets/${file}`).finished;
      expect(run.exitCode, run.output).toBe(0);
      for (const line of lines)
        expect(run.output.split("\n").map((one) => one.trim())).toContain(line);
      expect(run.leftFiles).toEqual([]);
    },
  );

  it("shows no value of the raw error in a hint", async () => {
    const { output } = await startExample("snippets/hints-alone.mjs").finished;
    expect(output).not.toContain("1007");
  });
});
