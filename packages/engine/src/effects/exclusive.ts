// Owns the rule that one transaction's effects are settled by one worker of this process at a time,
// so that a late second rollback, retry or resolution finds the work done instead of doing it again.
//
//   X1 Within an engine in order. Among the engines on one folder, in whatever thread, by a lock of
//      the store, which is free again when its holder's store is closed or its thread gone.
//   X2 Background work leaves to another engine what that one is at. What a caller waits for goes on
//      all the same: its owner may be taking over from one that hangs, and the fence decides (C3).
import type { Store } from "@agenttx/model";

export class KeyedLocks {
  readonly #store: Store;
  readonly #tails = new Map<string, Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Runs `work` after everything that was queued under `key` before it. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#inOrder(key, async () => {
      const free = await this.#store.tryLock(nameOf(key));
      try {
        return await work();
      } finally {
        free?.();
      }
    });
  }

  /** The same, and nothing when another engine is at it. */
  runIfFree(key: string, work: () => Promise<void>): Promise<void> {
    return this.#inOrder(key, async () => {
      const free = await this.#store.tryLock(nameOf(key));
      if (free === null) return;
      try {
        await work();
      } finally {
        free();
      }
    });
  }

  async #inOrder<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
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

function nameOf(key: string): string {
  return `effects ${key}`;
}

function openPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
