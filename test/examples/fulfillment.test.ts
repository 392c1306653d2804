// Goal: the main job does what it says, twice, checks it, and leaves neither files nor processes,
// also when it is interrupted.

import { describe, expect, it } from "vitest";
import { startExample } from "./example-process.js";

const SECONDS_MAX = 30;

describe("examples/fulfillment", () => {
  it("rewinds, survives kill -9, commits both orders and finds everything in place", async () => {
    const startedAt = performance.now();
    const run = await startExample("fulfillment/demo.mjs").finished;
    expect(run.exitCode, run.output).toBe(0);
    expect((performance.now() - startedAt) / 1000).toBeLessThan(SECONDS_MAX);

    const act = (name: string, next: string) =>
      run.output.slice(run.output.indexOf(name), run.output.indexOf(next));
    const first = act("Act 1", "Act 2");
    expect(first).toContain("failed: foreign_key_violation on customer_id");
    expect(first).toContain("DEPENDENCY_JUMP to step 2, which produced customer_id");
    // Exactly what came after step 2, newest first; the reservation of step 1 stays.
    const undone = [...first.matchAll(/(\d) {2}([\w.]+) +undone/g)].map((found) => found[2]);
    expect(undone).toEqual(["payments.capture", "carrier.book"]);
    expect(act("Restart", "What everyone holds")).toContain("asked: it had happened");
    expect(run.output.match(/COMMITTED in/g)).toHaveLength(2);
    expect(run.output).not.toContain("expected:");
    expect(run.leftFiles).toEqual([]);
    expect(run.leftProcesses()).toEqual([]);

    // 100 columns, readable without colour.
    const { output } = run;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    expect(output).not.toMatch(/[\u001b\r]/);
    const long = output.split("\n").filter((line) => [...line].length > 100);
    expect(long).toEqual([]);
  });

  it("leaves nothing behind when it is interrupted in the middle", async () => {
    const example = startExample("fulfillment/demo.mjs");
    await example.until("Act 2");
    example.child.kill("SIGINT");
    const run = await example.finished;
    expect(run.exitCode).toBe(130);
    expect(run.leftFiles).toEqual([]);
    // The services end when their standard input does, a moment after the demo.
    await expect.poll(() => run.leftProcesses(), { timeout: 5_000 }).toEqual([]);
  });
});
