// Owns the rule that one transaction's effects are settled by one worker of this process at a time,
// so that a late second rollback, retry or resolution finds the work done instead of doing it again.

export class KeyedLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` after everything that was queued under `key` before it. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise, resolve } = openPromise();
    const tail = before.then(() => promise);
    this.#tails.set(key, tail);
    await before;
    try {
      return await work();
    } finally {
      resolve();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

function openPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Runs `work` for each item, at most `width` at once. The first error rejects when all ended. */
export async function forEachBounded<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
}
