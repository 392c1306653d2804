// Owns counters that are counted with every call or step: plain numbers, handed to Prometheus when it
// scrapes. Labels are two or three words of ours, so the number of tallies is bounded.

interface Entry<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  count: number;
}

/** One word of the labels: the entry when it is the last one, else what may follow. */
interface Branch<Label extends string> {
  readonly next: Map<string, Branch<Label>>;
  entry: Entry<Label> | null;
}

export class Tally<Label extends string> {
  readonly #names: readonly Label[];
  readonly #root: Branch<Label> = { next: new Map(), entry: null };
  readonly #entries: Entry<Label>[] = [];

  constructor(names: readonly Label[]) {
    this.#names = names;
  }

  /** One more of these labels, in the order of the names. No text is put together for it. */
  add(first: string, second: string, third?: string): void {
    let branch = follow(follow(this.#root, first), second);
    if (third !== undefined) branch = follow(branch, third);
    branch.entry ??= this.#enter(first, second, third);
    branch.entry.count += 1;
  }

  entries(): Iterable<Entry<Label>> {
    return this.#entries;
  }

  #enter(...values: readonly (string | undefined)[]): Entry<Label> {
    const labels = Object.fromEntries(
      this.#names.map((name, index) => [name, values[index] ?? ""]),
    );
    const entry = { labels: labels as Record<Label, string>, count: 0 };
    this.#entries.push(entry);
    return entry;
  }
}

function follow<Label extends string>(from: Branch<Label>, word: string): Branch<Label> {
  let branch = from.next.get(word);
  if (branch === undefined) {
    branch = { next: new Map(), entry: null };
    from.next.set(word, branch);
  }
  return branch;
}
