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
