// Owns the search for all rule literals in one pass over a text.
// Invariants: I1 linear: one table look-up per character. I2 at most HITS_PER_LITERAL_MAX positions
// per literal are reported, so a text made of one literal cannot multiply the work (H4).

/** How often one literal is tried; the first ones count. */
export const HITS_PER_LITERAL_MAX = 48;

const TABLE_SIZE = 8192;
// Letters of English text from common to rare: a literal is found by its rarest three.
const FREQUENT = " etaoinsrhldcumfpgwybvkxjqz";

interface Entry<T> {
  readonly literal: string;
  /** Where inside the literal its three looked-up characters stand. */
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
  readonly #heads = new Int32Array(TABLE_SIZE);
  readonly #buckets: Entry<T>[][] = [[]];
  readonly #counts: Int32Array;

  /** REQUIRES: every literal is in lower case and has at least three characters. */
  constructor(items: readonly { literal: string; item: T }[]) {
    const entries = new Map<string, Entry<T>>();
    for (const { literal, item } of items) {
      const known = entries.get(literal);
      if (known !== undefined) {
        known.items.push(item);
        continue;
      }
      const offset = rarest(literal);
      const entry = { literal, offset, items: [item], slot: entries.size };
      entries.set(literal, entry);
      const hash = hashAt(literal, offset);
      let bucket = this.#buckets[this.#heads[hash] ?? 0];
      if (bucket === undefined || this.#heads[hash] === 0) {
        bucket = [];
        this.#heads[hash] = this.#buckets.push(bucket) - 1;
      }
      bucket.push(entry);
    }
    this.#counts = new Int32Array(entries.size);
  }

  /** All positions of all literals in the order of the text, the longest first. `lower` is the text in lower case. */
  find(lower: string): Hit<T>[] {
    const hits: Hit<T>[] = [];
    const heads = this.#heads;
    this.#counts.fill(0);
    let first = lower.charCodeAt(0);
    let second = lower.charCodeAt(1);
    for (let index = 2; index < lower.length; index++) {
      const third = lower.charCodeAt(index);
      const head = heads[hash3(first, second, third)];
      if (head !== 0) this.#collect(lower, index - 2, head ?? 0, hits);
      first = second;
      second = third;
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

function hash3(first: number, second: number, third: number): number {
  return ((first * 961) ^ (second * 31) ^ (third * 7919)) & (TABLE_SIZE - 1);
}

function hashAt(text: string, at: number): number {
  return hash3(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
}

function rarest(literal: string): number {
  let best = 0;
  let score = -1;
  for (let at = 0; at + 3 <= literal.length; at++) {
    let sum = 0;
    for (const letter of literal.slice(at, at + 3)) {
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
