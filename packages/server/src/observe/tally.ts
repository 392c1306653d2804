// Owns counters that are counted with every call or step: plain numbers, handed to Prometheus when it
// scrapes. Labels are two or three words of ours, so the number of tallies is bounded.

interface Entry<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  count: number;
}

export class Tally<Label extends string> {
  readonly #names: readonly Label[];
  readonly #entries = new Map<string, Entry<Label>>();

  constructor(names: readonly Label[]) {
    this.#names = names;
  }

  /** One more of these labels, in the order of the names. */
  add(...values: readonly string[]): void {
    const key = values.length === 2 ? `${values[0]}\n${values[1]}` : values.join("\n");
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const labels = Object.fromEntries(
      this.#names.map((name, index) => [name, values[index] ?? ""]),
    );
    this.#entries.set(key, { labels: labels as Record<Label, string>, count: 1 });
  }

  entries(): Iterable<Entry<Label>> {
    return this.#entries.values();
  }
}
