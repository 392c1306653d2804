// Goal: the graph is what G1-G4 say, and loaded = rebuilt = rewound. Method: random transactions
// over few names and values, against a reference that passes over all earlier outputs at every
// question and remembers nothing.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DependencyGraph } from "./dependency-graph.js";
import type { GraphReference } from "./links.js";

type Segments = readonly (string | number)[];

interface Ran {
  readonly step: number;
  readonly inputs: unknown;
  readonly references: readonly { from: number; output: Segments; input: Segments }[];
  readonly output: unknown;
}

interface PlainEdge {
  readonly from: number;
  readonly output: Segments;
  readonly input: Segments;
  readonly explicit: boolean;
}

// ---- the reference: the rules, word by word ----

function leaves(value: unknown, path: Segments = []): { path: Segments; value: unknown }[] {
  if (typeof value !== "object" || value === null) return [{ path, value }];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function shallowFirst(value: unknown) {
  return leaves(value).sort((a, b) => a.path.length - b.path.length);
}

const nameOf = (path: Segments) => String(path.filter((part) => typeof part === "string").at(-1));
const hasName = (path: Segments) => path.some((part) => typeof part === "string");

function words(name: string): string {
  let text = "";
  for (const [at, char] of [...name].entries()) {
    const isUpper = char !== char.toLowerCase();
    const before = name[at - 1] ?? "_";
    const isBoundary = isUpper && before !== "_" && before === before.toLowerCase();
    text += isBoundary ? `_${char.toLowerCase()}` : char.toLowerCase();
  }
  return text;
}

const sameName = (a: string, b: string) =>
  a.toLowerCase() === b.toLowerCase() || words(a) === words(b);

function related(output: string, input: string): "same" | "suffix" | null {
  if (sameName(output, input)) return "same";
  const isSuffix =
    input.toLowerCase().endsWith(`_${output.toLowerCase()}`) ||
    words(input).endsWith(`_${words(output)}`);
  return isSuffix ? "suffix" : null;
}

const linkable = (value: unknown) =>
  (typeof value === "string" && value !== "") || typeof value === "number";

const samePlace = (a: Segments, b: Segments) => JSON.stringify(a) === JSON.stringify(b);
const isInside = (path: Segments, around: Segments) =>
  path.length > around.length && samePlace(path.slice(0, around.length), around);

function implicitEdge(earlier: readonly Ran[], path: Segments, value: unknown): PlainEdge | null {
  let best: { step: number; path: Segments; closeness: number } | null = null;
  for (const ran of earlier) {
    for (const out of shallowFirst(ran.output)) {
      if (!linkable(out.value) || out.value !== value || !hasName(out.path)) continue;
      const relation = related(nameOf(out.path), nameOf(path));
      if (relation === null) continue;
      const closeness = relation === "same" ? 1000 : nameOf(out.path).length;
      const isBetter =
        best === null ||
        ran.step > best.step ||
        (ran.step === best.step && closeness > best.closeness);
      if (isBetter) best = { step: ran.step, path: out.path, closeness };
    }
  }
  return best && { from: best.step, output: best.path, input: path, explicit: false };
}

function edgesOf(history: readonly Ran[], step: number): PlainEdge[] {
  const ran = history.find((one) => one.step === step);
  if (ran === undefined) return [];
  const earlier = history.filter((one) => one.step < step);
  const references = ran.references.filter(({ from }) => from >= 1 && from < step);
  const edges: PlainEdge[] = references.map((one) => ({ ...one, explicit: true }));
  for (const { path, value } of leaves(ran.inputs)) {
    const around = references.filter(
      ({ input }) => isInside(path, input) || samePlace(path, input),
    );
    const nearest = Math.max(...around.map(({ input }) => input.length));
    for (const { from, output, input } of around) {
      if (input.length !== nearest || samePlace(path, input)) continue;
      const inner = [...output, ...path.slice(input.length)];
      edges.push({ from, output: inner, input: path, explicit: true });
    }
    if (around.length > 0 || !linkable(value) || !hasName(path)) continue;
    const edge = implicitEdge(earlier, path, value);
    if (edge !== null) edges.push(edge);
  }
  return edges;
}

function samePath(a: Segments, b: Segments): boolean {
  const text = (path: Segments, form: (name: string) => string) =>
    path.map((part) => (typeof part === "string" ? form(part) : `[${part}]`)).join(".");
  const lower = (name: string) => name.toLowerCase();
  return text(a, lower) === text(b, lower) || text(a, words) === text(b, words);
}

const bare = (path: Segments) => path.filter((part) => typeof part === "string");

/** The readings of a key, the closest first: is the edge into `input` meant? */
function readings(key: Segments, meaning: "input" | "output") {
  const equal = (input: Segments, place: Segments) =>
    samePath(input, place) || samePath(bare(input), place);
  const endsSo = (input: Segments, place: Segments) =>
    [input, bare(input)].some((variant) => {
      const tail = variant.slice(-place.length);
      return typeof tail[0] === "string" && samePath(tail, place);
    });
  const around = Array.from({ length: key.length }, (_, at) =>
    key.slice(0, key.length - 1 - at),
  ).map((place) => (edge: PlainEdge) => edge.explicit && samePath(edge.input, place));
  if (key.length === 1) return [(edge: PlainEdge) => endsSo(edge.input, key), ...around];
  const cut = Array.from({ length: key.length - 1 }, (_, at) => at + 1)
    .filter((start) => key.slice(0, start).every((part) => typeof part === "string"))
    .map((start) => (edge: PlainEdge) => equal(edge.input, key.slice(start)));
  const lastName = (edge: PlainEdge) => hasName(key) && endsSo(edge.input, [nameOf(key)]);
  return [
    (edge: PlainEdge) => equal(edge.input, key),
    (edge: PlainEdge) => endsSo(edge.input, key),
    ...cut,
    ...around,
    ...(meaning === "output" ? [lastName] : []),
  ];
}

function rootOf(
  history: readonly Ran[],
  step: number,
  key: Segments,
  meaning: "input" | "output",
): number | null {
  if (key.length === 0) return null;
  const edges = edgesOf(history, step);
  for (const isMeant of readings(key, meaning)) {
    const roots = edges
      .filter(isMeant)
      .map(({ from, output }) => rootOf(history, from, output, "output") ?? from);
    if (roots.length > 0) return Math.min(...roots);
  }
  return null;
}

// ---- random transactions ----

const write = (path: Segments) =>
  path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");

const name = fc.constantFrom("id", "ID", "customer_id", "customerId", "item", "customer");
const scalar = fc.constantFrom<unknown>(1, 2, "1", "x", "", true, null);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.dictionary(name, tie("json"), { maxKeys: 3 }),
    fc.array(tie("json"), { maxLength: 2 }),
  ),
}));
const object = fc.dictionary(name, json, { minKeys: 1, maxKeys: 4 });
const somePath = fc.array(
  fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom(0, 1) }),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const reference = fc.record({
  from: fc.integer({ min: 0, max: 8 }),
  output: somePath,
  input: somePath,
});
const history = fc.array(
  fc.record({
    inputs: object,
    output: object,
    references: fc.uniqueArray(reference, {
      maxLength: 2,
      selector: ({ from, output, input }) => JSON.stringify([from, output, input]),
    }),
  }),
  { minLength: 2, maxLength: 7 },
);

function toHistory(steps: readonly Omit<Ran, "step">[]): Ran[] {
  return steps.map((ran, index) => ({ ...ran, step: index + 1 }));
}

function append(graph: DependencyGraph, ran: Ran): void {
  const references = ran.references.map(
    ({ from, output, input }): GraphReference => ({
      from,
      outputPath: write(output),
      inputPath: write(input),
    }),
  );
  graph.addStep({ step: ran.step, tool: "t", inputs: ran.inputs, references });
  graph.recordOutput(ran.step, ran.output);
}

function build(steps: readonly Ran[]): DependencyGraph {
  const graph = new DependencyGraph();
  for (const ran of steps) append(graph, ran);
  return graph;
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);

describe("dependency graph against the rules", () => {
  it("has the edges of the reference at every step", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const ran = toHistory(steps);
        const graph = build(ran);
        for (const { step } of ran) {
          const expected = edgesOf(ran, step).map((edge) =>
            JSON.stringify([edge.from, write(edge.output), write(edge.input), edge.explicit]),
          );
          const actual = graph
            .edgesInto(step)
            .map((edge) =>
              JSON.stringify([edge.from, edge.outputPath, edge.inputPath, edge.explicit]),
            );
          expect(actual.sort(byText)).toEqual(expected.sort(byText));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("finds the roots of the reference for any key, and a path that leads there", () => {
    fc.assert(
      fc.property(history, fc.array(somePath, { minLength: 1, maxLength: 6 }), (steps, keys) => {
        const ran = toHistory(steps);
        const graph = build(ran);
        for (const { step } of ran) {
          for (const key of keys) {
            const root = rootOf(ran, step, key, "input");
            expect(graph.findRootCause(step, write(key))).toBe(root);
            const trace = graph.traceRootCause(step, write(key));
            expect(trace?.root ?? null).toBe(root);
            expect(trace?.path.at(0)?.to ?? step).toBe(step);
            expect(trace?.path.at(-1)?.from ?? null).toBe(root);
            for (const [at, edge] of (trace?.path ?? []).entries()) {
              expect(edge.from).toBeLessThan(edge.to);
              expect(graph.edgesInto(edge.to)).toContainEqual(edge);
              expect(trace?.path[at + 1]?.to ?? edge.from).toBe(edge.from);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("rewound and continued is the same as built from scratch (G4)", () => {
    fc.assert(
      fc.property(history, history, fc.nat({ max: 8 }), (first, second, at) => {
        const before = toHistory(first);
        const target = Math.max(1, Math.min(at, before.length));
        const graph = build(before);
        graph.rewindTo(target);
        const kept = before.slice(0, target - 1);
        expect(graph.toJSON()).toEqual(build(kept).toJSON());
        const after = toHistory([...kept, ...second]);
        for (const ran of after.slice(kept.length)) append(graph, ran);
        expect(graph.toJSON()).toEqual(build(after).toJSON());
      }),
      { numRuns: 300 },
    );
  });

  it("loaded is the same as saved, and goes on the same (G5)", () => {
    fc.assert(
      fc.property(history, history, somePath, (first, second, key) => {
        const ran = toHistory(first);
        const graph = build(ran);
        const loaded = DependencyGraph.fromJSON(JSON.parse(JSON.stringify(graph)));
        expect(loaded.toJSON()).toEqual(graph.toJSON());
        const more = toHistory([...first, ...second]).slice(first.length);
        for (const one of [graph, loaded]) for (const step of more) append(one, step);
        expect(loaded.toJSON()).toEqual(graph.toJSON());
        for (const { step } of more) {
          expect(loaded.traceRootCause(step, write(key))).toEqual(
            graph.traceRootCause(step, write(key)),
          );
        }
        for (const one of [graph, loaded]) one.rewindTo(2);
        expect(loaded.toJSON()).toEqual(graph.toJSON());
      }),
      { numRuns: 300 },
    );
  });

  it("leaves its arguments as they were", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const ran = toHistory(steps);
        const before = JSON.stringify(ran);
        build(ran);
        expect(JSON.stringify(ran)).toBe(before);
      }),
    );
  });
});
