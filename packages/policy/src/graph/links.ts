// Owns which edges a step's inputs make (G1): one per reference, one per leaf inside a referenced
// object, and one per other scalar that equals an earlier output.
//   L1 `from` is always earlier than the step, so no cycle can exist.
//   L2 An explicit edge for an input, or for an object around it, suppresses implicit ones.
//   L3 Work is bounded by the caps of limits.ts, never by the number of earlier outputs.
import { isStepNumber } from "../step-number.js";
import { EDGES_PER_STEP_MAX, SCALARS_PER_STEP_MAX } from "./limits.js";
import { joinPaths, readPath, writePath } from "./path.js";
import { leavesOf, linkableScalar } from "./scalars.js";
import type { ValueIndex } from "./value-index.js";

/** `${steps.<from>.<outputPath>}`, as it stands at `inputPath` of the step's inputs. */
export interface GraphReference {
  readonly from: number;
  /** "" is the whole output. The path may be missing there: the edge is recorded all the same. */
  readonly outputPath: string;
  readonly inputPath: string;
}

/** A step as it is about to run. */
export interface GraphStep {
  readonly step: number;
  readonly tool: string;
  /** Its arguments with references resolved (unresolved ones as they stand): any JSON. */
  readonly inputs: unknown;
  readonly references?: readonly GraphReference[];
}

/** An edge into a step whose root is not known yet. */
export interface Link {
  readonly from: number;
  readonly outputPath: string;
  readonly inputPath: string;
  readonly explicit: boolean;
}

/**
 * REQUIRES: `index` holds outputs of earlier steps only.
 * Links of one step: references in their order, then leaves inside them, then equal values.
 */
export function linksOf(added: GraphStep, index: ValueIndex): readonly Link[] {
  const byInput = groupReferences(added);
  const explicit = [...byInput.values()].flat();
  const inside: Link[] = [];
  const implicit: Link[] = [];
  let scalarCount = 0;
  for (const { path, name, value, mark } of leavesOf(added.inputs, new Set(byInput.keys()))) {
    if (scalarCount === SCALARS_PER_STEP_MAX) break;
    if (mark !== null) {
      scalarCount += 1;
      if (path !== mark) inside.push(...carry(byInput.get(mark) ?? [], path));
      continue;
    }
    const scalar = linkableScalar(value);
    if (scalar === null || name === "") continue;
    scalarCount += 1;
    const found = index.findProducer(name, scalar);
    if (found === null) continue;
    implicit.push({ from: found.step, outputPath: found.path, inputPath: path, explicit: false });
  }
  return [...explicit, ...inside, ...implicit].slice(0, EDGES_PER_STEP_MAX);
}

/** Usable references by input path. One to a step that is not earlier makes no edge (L1). */
function groupReferences({ step, references = [] }: GraphStep): Map<string, Link[]> {
  const byInput = new Map<string, Link[]>();
  for (const reference of references.slice(0, EDGES_PER_STEP_MAX)) {
    const { from } = reference;
    const input = readPath(reference.inputPath);
    if (input === null || !isStepNumber(from) || from >= step) continue;
    const inputPath = writePath(input);
    // A path too long to read stands for the whole output: the producer is still known (G3).
    const outputPath = writePath(readPath(reference.outputPath) ?? []);
    const links = byInput.get(inputPath) ?? [];
    if (links.some((link) => link.from === from && link.outputPath === outputPath)) continue;
    byInput.set(inputPath, [...links, { from, outputPath, inputPath, explicit: true }]);
  }
  return byInput;
}

/** The same references, seen from a leaf inside what they brought. */
function carry(references: readonly Link[], leafPath: string): Link[] {
  const links: Link[] = [];
  for (const reference of references) {
    const rest = leafPath.slice(reference.inputPath.length).replace(/^\./, "");
    const outputPath = joinPaths(reference.outputPath, rest);
    if (readPath(outputPath) === null) continue;
    links.push({ ...reference, outputPath, inputPath: leafPath });
  }
  return links;
}
