// Owns which edges into a step a key means (G2, G3a). Built once per step, on first use; edges
// into a step never change while the step exists.
//   M1 Among the edges that match, the one with the earliest root is the answer; the first one
//      recorded when roots are equal (explicit edges are recorded first).
//   M2 A key of one segment means every input called so, wherever it lies. A key of several names
//      a place, and the closest reading that finds an edge is used: the same path; a path that
//      ends so; the end of the key as a path (`orders.customer_id`); a referenced object around
//      the place; and, only for an output being followed further, the last name.
//   M3 An index in a key must be the index in the path; a key may leave indices out.
import { pathForms } from "./name-forms.js";
import { readPath, type Segment } from "./path.js";

export interface Edge {
  readonly from: number;
  readonly outputPath: string;
  readonly to: number;
  readonly inputPath: string;
  readonly explicit: boolean;
  /** Earliest step that this edge's value is traced to. */
  readonly root: number;
  /** The edge to go on with at the producer, or null when the producer is the root. */
  readonly next: Edge | null;
}

export class EdgeMatcher {
  readonly #whole = new Map<string, Edge>();
  readonly #endings = new Map<string, Edge>();
  readonly #referenced = new Map<string, Edge>();

  constructor(edges: readonly Edge[]) {
    for (const edge of edges) this.#add(edge);
  }

  /** The edge with the earliest root that `key` means, or null. */
  find(key: string, meaning: "input" | "output"): Edge | null {
    const segments = readPath(key);
    if (segments === null || segments.length === 0) return null;
    if (segments.length === 1) {
      return earliest(this.#endings, segments) ?? this.#findAround(segments);
    }
    return (
      earliest(this.#whole, segments) ??
      earliest(this.#endings, segments) ??
      this.#findEndOfKey(segments) ??
      this.#findAround(segments) ??
      (meaning === "output" ? this.#findLastName(segments) : null)
    );
  }

  #add(edge: Edge): void {
    const segments = readPath(edge.inputPath);
    if (segments === null) return;
    const variants = [segments];
    const names = namesOf(segments);
    if (names.length !== segments.length) variants.push(names);
    for (const variant of variants) {
      keepEarliest(this.#whole, variant, edge);
      for (let start = 0; start < variant.length; start += 1) {
        if (typeof variant[start] === "string") {
          keepEarliest(this.#endings, variant.slice(start), edge);
        }
      }
    }
    if (edge.explicit) keepEarliest(this.#referenced, segments, edge);
  }

  #findEndOfKey(segments: readonly Segment[]): Edge | null {
    for (let start = 1; start < segments.length; start += 1) {
      // `items[1].qty` is not `qty`: cutting an index off would name another place.
      if (typeof segments[start - 1] === "number") return null;
      const edge = earliest(this.#whole, segments.slice(start));
      if (edge !== null) return edge;
    }
    return null;
  }

  #findAround(segments: readonly Segment[]): Edge | null {
    for (let end = segments.length - 1; end >= 0; end -= 1) {
      const edge = earliest(this.#referenced, segments.slice(0, end));
      if (edge !== null) return edge;
    }
    return null;
  }

  #findLastName(segments: readonly Segment[]): Edge | null {
    const last = namesOf(segments).at(-1);
    return last === undefined ? null : earliest(this.#endings, [last]);
  }
}

function namesOf(segments: readonly Segment[]): readonly Segment[] {
  return segments.filter((segment) => typeof segment === "string");
}

function earliest(edges: ReadonlyMap<string, Edge>, segments: readonly Segment[]): Edge | null {
  let best: Edge | null = null;
  for (const form of pathForms(segments)) {
    const edge = edges.get(form);
    if (edge !== undefined && (best === null || edge.root < best.root)) best = edge;
  }
  return best;
}

function keepEarliest(edges: Map<string, Edge>, segments: readonly Segment[], edge: Edge): void {
  for (const form of pathForms(segments)) {
    const kept = edges.get(form);
    if (kept === undefined || edge.root < kept.root) edges.set(form, edge);
  }
}
