// Owns the exact check of a recorded history: commit versions are known, so no order has to be
// guessed and each check is one pass.
// H1 A version belongs to one commit. H2 What was read was committed, before it was read.
// H3 No key changed between the version a transaction saw of it first and its own write of it.
// H4 A read begun after a commit was answered sees that commit or a later one.
// H5 Who commits after reading has a higher version than what it read: no cycle of writes and reads.
// H6 At the end each key holds what its newest commit wrote.

export interface ReadEvent {
  readonly key: string;
  /** The unique value read; null when there was none. */
  readonly value: string | null;
  /** When the read began and ended, in events of the recorder. */
  readonly began: number;
  readonly ended: number;
}

export interface Recorded {
  readonly id: string;
  readonly serializable: boolean;
  /** Reads of committed state in order; reads of own writes are left out. */
  readonly reads: readonly ReadEvent[];
  readonly writes: ReadonlyMap<string, string | null>;
  /** null: it did not commit. */
  readonly version: bigint | null;
  readonly commitBegan: number;
  readonly commitEnded: number;
}

interface Version {
  readonly version: bigint;
  readonly value: string | null;
  readonly writer: Recorded;
}

export interface Verdict {
  readonly violations: readonly string[];
  readonly readsChecked: number;
  /** Reads that another commit had overtaken before their transaction committed: allowed. */
  readonly overtaken: number;
}

export function checkHistory(
  recorded: readonly Recorded[],
  final: ReadonlyMap<string, string>,
): Verdict {
  return new HistoryCheck(recorded, final).run();
}

class HistoryCheck {
  readonly #recorded: readonly Recorded[];
  readonly #final: ReadonlyMap<string, string>;
  readonly #byKey = new Map<string, Version[]>();
  readonly #byValue = new Map<string, Version>();
  readonly #violations: string[] = [];
  #readsChecked = 0;
  #overtaken = 0;

  constructor(recorded: readonly Recorded[], final: ReadonlyMap<string, string>) {
    this.#recorded = recorded;
    this.#final = final;
  }

  run(): Verdict {
    this.#index();
    for (const tx of this.#recorded) for (const read of tx.reads) this.#checkRead(tx, read);
    for (const tx of this.#recorded) if (tx.version !== null) this.#checkBases(tx, tx.version);
    this.#checkFinal();
    return {
      violations: this.#violations,
      readsChecked: this.#readsChecked,
      overtaken: this.#overtaken,
    };
  }

  #found(text: string): void {
    this.#violations.push(text);
  }

  #index(): void {
    const versions = new Map<bigint, string>();
    const committed = this.#recorded.flatMap((tx) =>
      tx.version === null ? [] : [{ tx, version: tx.version }],
    );
    committed.sort((one, other) => (one.version < other.version ? -1 : 1));
    for (const { tx, version } of committed) {
      const other = versions.get(version);
      if (other !== undefined) this.#found(`${tx.id} and ${other} both have version ${version}`);
      versions.set(version, tx.id);
      for (const [key, value] of tx.writes) {
        const entry = { version, value, writer: tx };
        const history = this.#byKey.get(key);
        if (history === undefined) this.#byKey.set(key, [entry]);
        else history.push(entry);
        if (value !== null) this.#byValue.set(`${key}=${value}`, entry);
      }
    }
  }

  /** The newest version of a key at or below a commit version. */
  #at(key: string, version: bigint): Version | null {
    const history = this.#byKey.get(key) ?? [];
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = history[middle];
      if (entry !== undefined && entry.version <= version) low = middle + 1;
      else high = middle;
    }
    return history[low - 1] ?? null;
  }

  #checkRead(tx: Recorded, read: ReadEvent): void {
    this.#readsChecked += 1;
    const history = this.#byKey.get(read.key) ?? [];
    const seen = read.value === null ? null : this.#byValue.get(`${read.key}=${read.value}`);
    if (seen === undefined) {
      this.#found(`${tx.id} read ${read.key}=${read.value}, which nobody committed`);
      return;
    }
    if (seen !== null && seen.writer.commitBegan > read.ended) {
      this.#found(`${tx.id} read ${read.key} before its commit began`);
    }
    if (seen !== null && tx.version !== null && seen.version >= tx.version) {
      this.#found(`${tx.id} committed as ${tx.version} and had read version ${seen.version}`);
    }
    // H4. Absence is explained by any deletion, or by the time before the first version.
    const answered = newestBefore(history, read.began);
    if (answered === null) return;
    const isStale =
      seen !== null
        ? seen.version < answered.version
        : answered.value !== null && !hasDeletionAfter(history, answered.version, read.ended);
    if (isStale) this.#found(`${tx.id} read a ${read.key} older than an answered commit`);
  }

  /** H3, and for a serializable one the same for every key it read. */
  #checkBases(tx: Recorded, version: bigint): void {
    const first = new Map<string, ReadEvent>();
    for (const read of tx.reads) if (!first.has(read.key)) first.set(read.key, read);
    for (const [key, read] of first) {
      const before = this.#at(key, version - 1n);
      const isSame = (before?.value ?? null) === read.value;
      if (isSame) continue;
      if (tx.writes.has(key)) this.#found(`${tx.id} wrote ${key}, which had changed since it read`);
      else if (tx.serializable) this.#found(`${tx.id} is serializable, and ${key} had changed`);
      else this.#overtaken += 1;
    }
  }

  #checkFinal(): void {
    for (const [key, history] of this.#byKey) {
      const expected = history.at(-1)?.value ?? null;
      const actual = this.#final.get(key) ?? null;
      if (actual !== expected)
        this.#found(`${key} is ${actual}, its newest commit wrote ${expected}`);
    }
    for (const key of this.#final.keys()) {
      if (!this.#byKey.has(key)) this.#found(`${key} was committed by nobody`);
    }
  }
}

/** The newest version whose commit was answered before an event. Histories are in version order. */
function newestBefore(history: readonly Version[], event: number): Version | null {
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const entry = history[index];
    if (entry !== undefined && entry.writer.commitEnded < event) return entry;
  }
  return null;
}

function hasDeletionAfter(history: readonly Version[], version: bigint, event: number): boolean {
  return history.some(
    (entry) => entry.version > version && entry.value === null && entry.writer.commitBegan <= event,
  );
}
