// Owns the search for all rule literals in one pass over a text.
// Invariants: I1 linear: one table look-up per character. I2 at most HITS_PER_LITERAL_MAX positions
// per literal are reported, so a text made of one literal cannot multiply the work (H4).

/** How often one literal is tried; the first ones count. */
export const HITS_PER_LITERAL_MAX = 48;

const TABLE_SIZE = 32_768;
// Letters of English text from common to rare: a literal is found by its rarest four.
const FREQUENT = " etaoinsrhldcumfpgwybvkxjqz";

interface Entry<T> {
  readonly literal: string;
  /** Where inside the literal its four looked-up characters stand. */
  readonly offset: number;
  readonly items: T[];
  readonly slot: number;
}

/** A literal that was found, and where. */
export interface Hit<T> {
  readonly position: number;
  readonly length: number;
  readonly items: readonly T[];
}

export class LiteralIndex<T> {
  readonly #heads = new Uint16Array(TABLE_SIZE);
  readonly #buckets: Entry<T>[][] = [[]];
  readonly #counts: Int32Array;

  /** REQUIRES: every literal is in lower case and has at least four characters. */
  constructor(items: readonly { literal: string; item: T }[]) {
    const entries = new Map<string, Entry<T>>();
    for (const { literal, item } of items) {
      const known = entries.get(literal);
      if (known === undefined) {
        const entry = { literal, offset: rarest(literal), items: [item], slot: entries.size };
        entries.set(literal, entry);
        this.#add(entry);
      } else known.items.push(item);
    }
    this.#counts = new Int32Array(entries.size);
  }

  #add(entry: Entry<T>): void {
    let gram = 0;
    for (let at = 0; at < 4; at++) gram = roll(gram, entry.literal.charCodeAt(entry.offset + at));
    const slot = slotOf(gram);
    const head = this.#heads[slot] ?? 0;
    if (head === 0) this.#heads[slot] = this.#buckets.push([entry]) - 1;
    else this.#buckets[head]?.push(entry);
  }

  /**
   * All positions of all literals in the order of the text, the longest first. `lower` is the text
   * in lower case.
   */
  find(lower: string): Hit<T>[] {
    const hits: Hit<T>[] = [];
    const heads = this.#heads;
    this.#counts.fill(0);
    let gram = 0;
    for (let index = 0; index < lower.length; index++) {
      gram = roll(gram, lower.charCodeAt(index));
      const head = heads[slotOf(gram)];
      if (head !== 0) this.#collect(lower, index - 3, head ?? 0, hits);
    }
    return hits.sort((a, b) => a.position - b.position || b.length - a.length);
  }

  #collect(lower: string, at: number, head: number, hits: Hit<T>[]): void {
    for (const entry of this.#buckets[head] ?? []) {
      const position = at - entry.offset;
      if (position < 0 || !lower.startsWith(entry.literal, position)) continue;
      const count = this.#counts[entry.slot] ?? 0;
      if (count >= HITS_PER_LITERAL_MAX) continue;
      this.#counts[entry.slot] = count + 1;
      hits.push({ position, length: entry.literal.length, items: entry.items });
    }
  }
}

// The last four characters; a wide one also touches its neighbour, which only costs a comparison.
function roll(gram: number, code: number): number {
  return (gram << 8) ^ code;
}

function slotOf(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 17;
}

function rarest(literal: string): number {
  let best = 0;
  let score = -1;
  for (let at = 0; at + 4 <= literal.length; at++) {
    let sum = 0;
    for (const letter of literal.slice(at, at + 4)) {
      const rank = FREQUENT.indexOf(letter);
      sum += rank === -1 ? FREQUENT.length : rank;
    }
    if (sum > score) {
      score = sum;
      best = at;
    }
  }
  return best;
}
