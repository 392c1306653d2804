// Owns the walk over a JSON value: its leaves with their paths, shallow ones first, so that a
// large list cannot hide the `id` beside it. Bounded by visits and paths, also on cyclic objects.
import {
  PATH_CHARS_MAX,
  PATH_SEGMENTS_MAX,
  SCALARS_PER_STEP_MAX,
  VALUES_VISITED_PER_STEP_MAX,
} from "./limits.js";
import { appendSegment, nameOrIndex } from "./path.js";

/** One leaf: anything but an object or array. Not only what links: booleans and null too. */
export interface Leaf {
  readonly path: string;
  /** The nearest name on the path, `ids` for `ids[0]`; "" when there is none. */
  readonly name: string;
  readonly value: unknown;
  /** The nearest path, this one included, that `marks` holds; null when there is none. */
  readonly mark: string | null;
}

interface Visit extends Leaf {
  readonly depth: number;
}

/** Only these link (G1); the value null, booleans and "" say too little. */
export function linkableScalar(value: unknown): string | number | null {
  if (typeof value === "string") return value === "" ? null : value;
  // -0 equals 0 and JSON does not keep it apart.
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  return null;
}

/** Leaves of `root`, breadth first, in document order within a depth. `marks` holds paths. */
export function* leavesOf(root: unknown, marks: ReadonlySet<string>): Generator<Leaf> {
  const mark = marks.has("") ? "" : null;
  const queue: Visit[] = [{ path: "", name: "", value: root, mark, depth: 0 }];
  for (let at = 0; at < queue.length; at += 1) {
    const visit = queue[at] as Visit; // at < queue.length
    if (typeof visit.value !== "object" || visit.value === null) yield visit;
    else pushChildren(queue, visit, visit.value, marks);
  }
}

function pushChildren(
  queue: Visit[],
  parent: Visit,
  container: object,
  marks: ReadonlySet<string>,
): void {
  if (parent.depth >= PATH_SEGMENTS_MAX) return;
  const isArray = Array.isArray(container);
  const keys = isArray ? container.keys() : Object.keys(container);
  const start = queue.length;
  for (const key of keys) {
    if (queue.length >= VALUES_VISITED_PER_STEP_MAX) return;
    // More entries of one container could only crowd out what lies inside the first ones.
    if (queue.length - start >= SCALARS_PER_STEP_MAX) return;
    const path = appendSegment(parent.path, key);
    if (path.length > PATH_CHARS_MAX) continue;
    queue.push({
      path,
      name: typeof key === "string" && typeof nameOrIndex(key) === "string" ? key : parent.name,
      value: (container as Record<string | number, unknown>)[key],
      mark: marks.has(path) ? path : parent.mark,
      depth: parent.depth + 1,
    });
  }
}
