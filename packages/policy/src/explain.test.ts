// Goal: people can read why (R10), and hostile text in a key cannot reach their terminal raw.
import { describe, expect, it } from "vitest";
import { initialCounters } from "./counters.js";
import { decide } from "./decide.js";
import { explain } from "./explain.js";
import { DependencyGraph } from "./graph/dependency-graph.js";
import { DEFAULT_POLICY } from "./resolve-policy.js";

function fail(key: string | null, changes: object = {}) {
  const graph = new DependencyGraph();
  graph.addStep({ step: 2, tool: "find", inputs: {} });
  graph.recordOutput(2, { id: 42 });
  graph.addStep({
    step: 4,
    tool: "book",
    inputs: { customer_id: 42, note: "n" },
    references: [{ from: 2, outputPath: "note", inputPath: "note" }],
  });
  const counters = { ...initialCounters(), furthestStep: 4, ...changes };
  return explain(decide({ policy: DEFAULT_POLICY, counters, graph, step: 4, key }).decision);
}

describe("explain", () => {
  it("tells a jump with its path and price", () => {
    expect(fail("customer_id")).toEqual([
      "DEPENDENCY_JUMP: rewind to before step 2, its root cause (rule R2)",
      "failure 1 of this step in this epoch",
      "key customer_id: produced by step 2",
      "path: step 4 customer_id <- step 2 id [equal value]",
      "replays 3 steps; 21 of 24 left in the epoch",
    ]);
    expect(fail("note")).toContain("path: step 4 note <- step 2 note [reference]");
  });

  it("tells what was refused before a backtrack", () => {
    expect(fail("customer_id", { jumps: { 2: 2 } })).toEqual([
      "LOCAL_BACKTRACK: rewind to before step 3 (rule R3)",
      "failure 1 of this step in this epoch",
      "key customer_id: produced by step 2",
      "path: step 4 customer_id <- step 2 id [equal value]",
      "replays 2 steps; 22 of 24 left in the epoch",
      "not DEPENDENCY_JUMP to step 2: jumps used up: 2 of 2 to step 2",
    ]);
  });

  it("tells a reset and an abort", () => {
    expect(fail(null, { failures: { 4: 2 } })).toEqual([
      "GLOBAL_RESET: back to the initial state, clear the context, begin again at step 1 (rule R6)",
      "failure 3 of this step in this epoch",
      "the hint names no key",
      "replays 0 steps; 24 of 24 left in the epoch",
      "not LOCAL_BACKTRACK to step 1: failure 3 of the step, at most 2 backtrack",
    ]);
    const aborted = fail("nope", { failures: { 4: 2 }, resets: 1 });
    expect(aborted[0]).toBe("ABORT: the transaction ends and nothing of it stays (rule R6)");
    expect(aborted).toContain("key nope: no earlier step produced it");
    expect(aborted.at(-1)).toBe("not GLOBAL_RESET: resets used up: 1 of 1");
  });

  it("escapes and shortens keys that are not plain", () => {
    const line = fail(`\u001b[31mred\n\u202e${"x".repeat(1000)}`)[2] ?? "";
    expect(line).toMatch(/^[ -~]+$/);
    expect(line).toContain('key "\\u001b[31mred\\n\\u202exxx');
    expect(line.length).toBeLessThan(220);
  });
});
