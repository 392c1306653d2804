// Goal: nothing damaged is loaded, and the error names the place. Method: one change to a good
// saved graph at a time, then any JSON at all.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PolicyError } from "../policy-error.js";
import { DependencyGraph } from "./dependency-graph.js";
import { EDGES_PER_STEP_MAX, SCALARS_PER_STEP_MAX } from "./limits.js";

function good() {
  return {
    version: 1,
    steps: [
      { step: 1, tool: "a", edges: [] as unknown[], output: [["id", 42]] as unknown },
      {
        step: 3,
        tool: "b",
        edges: [
          { from: 1, outputPath: "id", inputPath: "customer_id", explicit: false },
        ] as unknown[],
        output: null as unknown,
      },
    ] as Record<string, unknown>[],
  };
}

function refusedAt(saved: unknown): string {
  try {
    DependencyGraph.fromJSON(saved);
  } catch (error) {
    if (error instanceof PolicyError) return error.field;
    throw error;
  }
  return "accepted";
}

const edge = { from: 1, outputPath: "id", inputPath: "x", explicit: true };

function withStep(changes: Record<string, unknown>): unknown {
  const saved = good();
  saved.steps[1] = { ...saved.steps[1], ...changes };
  return saved;
}

describe("saved graphs", () => {
  it("are plain JSON with a version", () => {
    const graph = new DependencyGraph();
    graph.addStep({ step: 1, tool: "a", inputs: {} });
    graph.recordOutput(1, { id: 42 });
    graph.addStep({ step: 3, tool: "b", inputs: { customer_id: 42 } });
    expect(JSON.parse(JSON.stringify(graph))).toEqual(good());
    expect(DependencyGraph.fromJSON(good()).findRootCause(3, "customer_id")).toBe(1);
  });

  it("keep every number as JSON does, -0 included", () => {
    const graph = new DependencyGraph();
    graph.addStep({ step: 1, tool: "a", inputs: {} });
    graph.recordOutput(1, { a: -0, b: 1e21, c: 0.1, d: Number.MIN_VALUE });
    const loaded = DependencyGraph.fromJSON(JSON.parse(JSON.stringify(graph)));
    expect(loaded.toJSON()).toStrictEqual(graph.toJSON());
  });

  it.each<[unknown, string]>([
    [null, "graph"],
    ["{}", "graph"],
    [{}, "version"],
    [{ ...good(), version: 2 }, "version"],
    [{ ...good(), steps: {} }, "steps"],
    [{ ...good(), steps: [null] }, "steps[0]"],
    [withStep({ step: 1 }), "steps[1].step"],
    [withStep({ step: "3" }), "steps[1].step"],
    [withStep({ step: 1e300 }), "steps[1].step"],
    [withStep({ tool: null }), "steps[1].tool"],
    [withStep({ edges: "none" }), "steps[1].edges"],
    [withStep({ edges: Array(EDGES_PER_STEP_MAX + 1).fill(edge) }), "steps[1].edges"],
    [withStep({ edges: [edge, null] }), "steps[1].edges[1]"],
    [withStep({ edges: [{ ...edge, from: 3 }] }), "steps[1].edges[0].from"],
    [withStep({ edges: [{ ...edge, from: 0 }] }), "steps[1].edges[0].from"],
    [withStep({ edges: [{ ...edge, inputPath: 5 }] }), "steps[1].edges[0].inputPath"],
    [withStep({ edges: [{ ...edge, inputPath: "a..b" }] }), "steps[1].edges[0].inputPath"],
    [withStep({ edges: [{ ...edge, outputPath: "/a" }] }), "steps[1].edges[0].outputPath"],
    [withStep({ edges: [{ ...edge, explicit: 1 }] }), "steps[1].edges[0].explicit"],
    [withStep({ output: undefined }), "steps[1].output"],
    [withStep({ output: Array(SCALARS_PER_STEP_MAX + 1).fill(["id", 1]) }), "steps[1].output"],
    [withStep({ output: [["id"]] }), "steps[1].output[0]"],
    [withStep({ output: [["id", ""]] }), "steps[1].output[0]"],
    [withStep({ output: [["id", true]] }), "steps[1].output[0]"],
    [withStep({ output: [["id", Number.NaN]] }), "steps[1].output[0]"],
    [withStep({ output: [["id", 1, 2]] }), "steps[1].output[0]"],
    [withStep({ output: [["[0]", 1]] }), "steps[1].output[0]"],
    [withStep({ output: [["x".repeat(2000), 1]] }), "steps[1].output[0]"],
  ])("refuses damage %#", (saved, field) => expect(refusedAt(saved)).toBe(field));

  it("refuses or loads any JSON, and never fails in another way", () => {
    const some = fc.constantFrom<unknown>(null, -1, 0, 1, 2, "id", "", [], {}, true, [["id", 1]]);
    const part = fc.record({
      step: some,
      tool: some,
      edges: fc.oneof(some, fc.array(some)),
      output: some,
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.array(part)), (steps) => {
        expect(refusedAt({ version: 1, steps })).toMatch(/^(accepted|steps)/);
      }),
    );
  });
});
