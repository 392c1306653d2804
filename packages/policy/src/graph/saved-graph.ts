// Owns the saved form of a graph, and the check of what is loaded: nothing is taken on trust.
import { PolicyError } from "../policy-error.js";
import { isStepNumber } from "../step-number.js";
import { EDGES_PER_STEP_MAX, SCALARS_PER_STEP_MAX } from "./limits.js";
import { nameForms } from "./name-forms.js";
import { readPath, type Segment, writePath } from "./path.js";
import { linkableScalar } from "./scalars.js";

export const GRAPH_VERSION = 1;

export interface EdgeJson {
  readonly from: number;
  readonly outputPath: string;
  readonly inputPath: string;
  readonly explicit: boolean;
}

export interface StepJson {
  readonly step: number;
  readonly tool: string;
  readonly edges: readonly EdgeJson[];
  /** Path and value of each indexed scalar, or null when no output was recorded. */
  readonly output: readonly (readonly [path: string, value: string | number])[] | null;
}

/** A saved graph: plain JSON. Steps in order. */
export interface DependencyGraphJson {
  readonly version: typeof GRAPH_VERSION;
  readonly steps: readonly StepJson[];
}

/**
 * Checks a saved graph. Throws PolicyError with the place in `field` (`steps[3].edges[0].from`)
 * for anything that `toJSON` cannot have written.
 */
export function requireSavedGraph(saved: unknown): asserts saved is DependencyGraphJson {
  const { version, steps } = requireObject("graph", saved);
  if (version !== GRAPH_VERSION) {
    refuse("version", `this version reads ${GRAPH_VERSION} and nothing else`);
  }
  let previous = 0;
  for (const [index, step] of requireList("steps", steps, Number.POSITIVE_INFINITY).entries()) {
    previous = requireStep(`steps[${index}]`, step, previous);
  }
}

function requireStep(field: string, value: unknown, previous: number): number {
  const { step, tool, edges, output } = requireObject(field, value);
  if (!isStepNumber(step) || step <= previous) {
    refuse(`${field}.step`, `must be a step number above ${previous}`);
  }
  if (typeof tool !== "string") refuse(`${field}.tool`, "must be text");
  for (const [at, edge] of requireList(`${field}.edges`, edges, EDGES_PER_STEP_MAX).entries()) {
    requireEdge(`${field}.edges[${at}]`, edge, step);
  }
  if (output === null) return step;
  const scalars = requireList(`${field}.output`, output, SCALARS_PER_STEP_MAX);
  for (const [at, entry] of scalars.entries()) requireScalar(`${field}.output[${at}]`, entry);
  return step;
}

function requireEdge(field: string, value: unknown, step: number): void {
  const edge = requireObject(field, value);
  if (!isStepNumber(edge.from) || edge.from >= step) {
    refuse(`${field}.from`, `must be a step before ${step}`);
  }
  requirePath(`${field}.outputPath`, edge.outputPath);
  requirePath(`${field}.inputPath`, edge.inputPath);
  if (typeof edge.explicit !== "boolean") refuse(`${field}.explicit`, "must be true or false");
}

function requireScalar(field: string, value: unknown): void {
  const pair = requireList(field, value, 2);
  const name = lastName(requirePath(field, pair[0]));
  if (nameForms(name).length === 0) refuse(field, "must have a path that ends in a name");
  const scalar = pair[1];
  if (linkableScalar(scalar) === null || Object.is(scalar, -0)) {
    refuse(field, "must have a number or a text that is not empty");
  }
}

/** The nearest name on a path: `ids` for `ids[0]`; "" when there is none. */
export function lastName(segments: readonly Segment[]): string {
  const name = segments.findLast((segment) => typeof segment === "string");
  return typeof name === "string" ? name : "";
}

function requirePath(field: string, value: unknown): readonly Segment[] {
  const segments = typeof value === "string" ? readPath(value) : null;
  if (segments === null || writePath(segments) !== value) {
    refuse(field, "must be a path as this package writes it");
  }
  return segments;
}

function requireObject(field: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) refuse(field, "must be an object");
  return value as Readonly<Record<string, unknown>>;
}

function requireList(field: string, value: unknown, lengthMax: number): readonly unknown[] {
  if (!Array.isArray(value)) refuse(field, "must be a list");
  if (value.length > lengthMax) refuse(field, `must have at most ${lengthMax} entries`);
  return value;
}

function refuse(field: string, why: string): never {
  throw new PolicyError(field, `The saved dependency graph was not loaded: ${field} ${why}.`);
}
