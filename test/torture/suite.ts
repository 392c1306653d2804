// Owns what a suite is: something that is run for a time with a seed, and tells figures.
// S1 The same seed repeats the same cases from the first on; a longer run adds cases behind.
// S2 A run that hardly did anything is weak, and a weak run has failed.

export interface SuiteRun {
  readonly seed: number;
  readonly seconds: number;
  /** Where the run before stopped; null begins with the first case. */
  readonly cursor: string | null;
  /** Progress, for people. */
  readonly tell: (line: string) => void;
}

export interface SuiteResult {
  /** Cases carried out and judged. */
  readonly cycles: number;
  /** One line per broken promise; the first 100. */
  readonly violations: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  /** Why the run proves too little; empty when it does not. */
  readonly weak: readonly string[];
  /** Where the next run with this seed goes on; null when the suite begins anew. */
  readonly cursor: string | null;
}

export interface Suite {
  readonly name: string;
  /** One line for `pnpm torture list`. */
  readonly about: string;
  /** It has a fixed amount of work, however little time there is: it runs when it is named. */
  readonly isByName?: boolean;
  run(run: SuiteRun): Promise<SuiteResult>;
}

/** A list of reasons from demands that were not met. */
export function weaknesses(demands: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(demands)
    .filter(([, isMet]) => !isMet)
    .map(([text]) => `too weak: ${text}`);
}

/** A sub-seed: the same for a seed and a number, and unlike its neighbours. */
export function seedOf(seed: number, number: number): number {
  let mixed = (seed + Math.imul(number + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) >>> 0;
  return ((mixed ^ (mixed >>> 13)) >>> 0) % 2 ** 31;
}

/** mulberry32: numbers from 0 to 1, excluded. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
