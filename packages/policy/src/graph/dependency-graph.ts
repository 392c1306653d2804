// Owns the graph of one transaction: steps, edges between them, roots of keys (G1-G5).
//   G-1 Edges go from an earlier step to a later one; edges into a step never change.
//   G-2 An edge's root is settled when the edge is added, from the roots of the edges into its
//       producer. So a question costs one lookup, however deep the graph is.
//   G-3 A rewind removes a suffix of the steps, at the cost of what they hold.
//   G-4 Loaded = rebuilt from the same records = rewound to the same point.
import type { DependencyPathEdge } from "@agenttx/model";
import { PolicyError } from "../policy-error.js";
import type { RootCause, RootCauseLookup } from "../root-cause-lookup.js";
import { requireStepNumber } from "../step-number.js";
import { type Edge, EdgeMatcher } from "./edge-matcher.js";
import { SCALARS_PER_STEP_MAX } from "./limits.js";
import { type GraphStep, type Link, linksOf } from "./links.js";
import { nameForms } from "./name-forms.js";
import { readPath } from "./path.js";
import {
  type DependencyGraphJson,
  GRAPH_VERSION,
  lastName,
  requireSavedGraph,
  type StepJson,
} from "./saved-graph.js";
import { leavesOf, linkableScalar } from "./scalars.js";
import { type Occurrence, ValueIndex } from "./value-index.js";

interface Node {
  readonly step: number;
  readonly tool: string;
  readonly edges: readonly Edge[];
  output: readonly Occurrence[] | null;
  matcher: EdgeMatcher | null;
}

/**
 * Who produced which value of a transaction. Per step: `addStep` before the tool runs,
 * `recordOutput` when it worked, `rewindTo` when it was taken back. Holds the paths and the
 * scalars of outputs, not the outputs. Throws PolicyError for calls out of order; nothing is
 * changed then.
 */
export class DependencyGraph implements RootCauseLookup {
  readonly #nodes: Node[] = [];
  readonly #byStep = new Map<number, Node>();
  readonly #values = new ValueIndex();

  /** Steps held now. */
  get stepCount(): number {
    return this.#nodes.length;
  }

  /**
   * Adds a step with its edges: one per reference to an earlier step (others are ignored), one
   * per scalar input that equals an earlier output under a related name. `step` must be above all
   * steps held; gaps are allowed.
   */
  addStep(added: GraphStep): void {
    const { step, tool } = added;
    this.#requireNext(step, tool);
    this.#append(step, tool, linksOf(added, this.#values));
  }

  /** Records what a step returned, once. Any JSON; what cannot link is passed over. */
  recordOutput(step: number, output: unknown): void {
    const node = this.#byStep.get(step);
    if (node === undefined) throw new PolicyError("step", `Step ${step} is not in the graph.`);
    if (node.output !== null) {
      throw new PolicyError("step", `Step ${step} already has an output; rewind to it first.`);
    }
    const occurrences: Occurrence[] = [];
    for (const leaf of leavesOf(output, new Set())) {
      if (occurrences.length === SCALARS_PER_STEP_MAX) break;
      const value = linkableScalar(leaf.value);
      if (value === null || nameForms(leaf.name).length === 0) continue;
      occurrences.push({ step, path: leaf.path, name: leaf.name, value });
    }
    this.#index(node, occurrences);
  }

  /** Removes all steps from `step` on, with their edges and outputs (G4). 0 removes everything. */
  rewindTo(step: number): void {
    if (step !== 0) requireStepNumber("step", step);
    for (let last = this.#nodes.at(-1); last !== undefined; last = this.#nodes.at(-1)) {
      if (last.step < step) return;
      for (const occurrence of last.output ?? []) this.#values.remove(occurrence);
      this.#byStep.delete(last.step);
      this.#nodes.pop();
    }
  }

  /** The earliest step that produced the value behind `key` at `step`, or null (G2, G3a). */
  findRootCause(step: number, key: string): number | null {
    return this.#find(step, key, "input")?.root ?? null;
  }

  /** The same with the edges from `step` back to the root. */
  traceRootCause(step: number, key: string): RootCause | null {
    const first = this.#find(step, key, "input");
    if (first === null) return null;
    const path: DependencyPathEdge[] = [];
    for (let edge: Edge | null = first; edge !== null; edge = edge.next) path.push(shown(edge));
    return { root: first.root, path };
  }

  /** Steps that an input of `step` came from directly, ascending. None for an unknown step. */
  producersOf(step: number): readonly number[] {
    const producers = new Set(this.#byStep.get(step)?.edges.map((edge) => edge.from));
    return [...producers].sort((a, b) => a - b);
  }

  /** Edges into `step`, explicit ones first. None for an unknown step. */
  edgesInto(step: number): readonly DependencyPathEdge[] {
    return (this.#byStep.get(step)?.edges ?? []).map(shown);
  }

  /** Plain JSON, complete: `fromJSON` of it is the same graph. */
  toJSON(): DependencyGraphJson {
    return { version: GRAPH_VERSION, steps: this.#nodes.map(saved) };
  }

  /** Loads what `toJSON` gave. Throws PolicyError naming the place for anything else. */
  static fromJSON(json: unknown): DependencyGraph {
    requireSavedGraph(json);
    const graph = new DependencyGraph();
    for (const { step, tool, edges, output } of json.steps) {
      const node = graph.#append(step, tool, edges);
      if (output === null) continue;
      const occurrences = output.map(([path, value]): Occurrence => {
        return { step, path, name: lastName(readPath(path) ?? []), value };
      });
      graph.#index(node, occurrences);
    }
    return graph;
  }

  #requireNext(step: number, tool: string): void {
    requireStepNumber("step", step);
    const last = this.#nodes.at(-1);
    if (last !== undefined && step <= last.step) {
      const message = `Step ${step} is not after step ${last.step}; rewind to it first.`;
      throw new PolicyError("step", message);
    }
    if (typeof tool !== "string") throw new PolicyError("tool", "tool must be text.");
  }

  #append(step: number, tool: string, links: readonly Link[]): Node {
    const edges = links.map((link) => this.#edge(step, link));
    const node: Node = { step, tool, edges, output: null, matcher: null };
    this.#nodes.push(node);
    this.#byStep.set(step, node);
    return node;
  }

  #edge(to: number, { from, outputPath, inputPath, explicit }: Link): Edge {
    const next = this.#find(from, outputPath, "output");
    return { from, outputPath, to, inputPath, explicit, root: next?.root ?? from, next };
  }

  #find(step: number, key: string, meaning: "input" | "output"): Edge | null {
    const node = this.#byStep.get(step);
    if (node === undefined || node.edges.length === 0) return null;
    node.matcher ??= new EdgeMatcher(node.edges);
    return node.matcher.find(key, meaning);
  }

  #index(node: Node, occurrences: readonly Occurrence[]): void {
    node.output = occurrences;
    for (const occurrence of occurrences) this.#values.add(occurrence);
  }
}

function shown({ from, outputPath, to, inputPath, explicit }: Edge): DependencyPathEdge {
  return { from, outputPath, to, inputPath, explicit };
}

function saved({ step, tool, edges, output }: Node): StepJson {
  return {
    step,
    tool,
    edges: edges.map(({ from, outputPath, inputPath, explicit }) => {
      return { from, outputPath, inputPath, explicit };
    }),
    output: output?.map(({ path, value }) => [path, value] as const) ?? null,
  };
}
