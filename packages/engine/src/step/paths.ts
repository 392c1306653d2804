// Owns paths inside JSON: `a.b[0]["any name"]`, read and written in the form the graph uses.
import type { JsonValue } from "@agenttx/model";

type Segment = string | number;

const NEXT = /\.?([^.[\]"']+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;
const PLAIN = /^[^.[\]"'\\/#$\d][^.[\]"'\\]*$/;

/** Segments of a path ("" = the whole value), or null when it is not one. Linear time. */
export function readPath(text: string): readonly Segment[] | null {
  const segments: Segment[] = [];
  NEXT.lastIndex = 0;
  while (NEXT.lastIndex < text.length) {
    const match = NEXT.exec(text);
    if (match === null) return null;
    const [, name, index, quoted] = match;
    if (index !== undefined) segments.push(Number(index));
    else if (quoted !== undefined) segments.push(JSON.parse(quoted) as string);
    else if (name !== undefined) segments.push(/^\d{1,9}$/.test(name) ? Number(name) : name);
  }
  return segments;
}

/** The path of a child: `a` and `b` give `a.b`, `a` and 0 give `a[0]`. */
export function childPath(parent: string, segment: Segment): string {
  if (typeof segment === "number" || /^\d+$/.test(segment)) return `${parent}[${segment}]`;
  if (!PLAIN.test(segment)) return `${parent}[${JSON.stringify(segment)}]`;
  return parent === "" ? segment : `${parent}.${segment}`;
}

/** The value at the path, or undefined. Own properties only: prototypes are not reachable. */
export function valueAt(root: JsonValue, path: readonly Segment[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
      return undefined;
    }
    value = (value as Readonly<Record<Segment, JsonValue>>)[segment];
  }
  return value;
}
