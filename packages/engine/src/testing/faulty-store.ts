// Owns a store whose batches fail when a test says so; everything else is the store's own.
import type { Store, StoreTransaction } from "@agenttx/model";

/** What is about to be written; the return value is thrown instead. */
export type FaultHook = (call: string, transaction: StoreTransaction) => unknown;

const WRITES: readonly (string | symbol)[] = ["apply", "restoreSnapshot", "commit", "discard"];

export interface FaultyStore {
  readonly store: Store;
  /** Asked before every batch of a transaction; null lets it through. */
  hook: FaultHook | null;
  /** Asked after it was written; what it returns is thrown instead of the answer. */
  hookAfter: FaultHook | null;
}

export function faultyStore(inner: Store): FaultyStore {
  const faulty: FaultyStore & { store: Store } = { store: inner, hook: null, hookAfter: null };
  const wrap = (tx: StoreTransaction): StoreTransaction =>
    intercept(tx, (name, call) => {
      if (!WRITES.includes(name)) return call;
      return async (...args: unknown[]) => {
        const error = faulty.hook?.(String(name), tx) ?? null;
        if (error !== null) throw error;
        const answer = await call(...args);
        const late = faulty.hookAfter?.(String(name), tx) ?? null;
        if (late !== null) throw late;
        return answer;
      };
    });
  faulty.store = intercept(inner, (name, call) => {
    if (name !== "begin" && name !== "attach") return call;
    return async (...args: unknown[]) => wrap((await call(...args)) as StoreTransaction);
  });
  return faulty;
}

type Call = (...args: unknown[]) => unknown;

function intercept<Target extends object>(
  target: Target,
  replace: (name: string | symbol, call: Call) => Call,
): Target {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === "function" ? replace(name, value.bind(object) as Call) : value;
    },
  });
}

/** A hook that fails the `nth` batch from now on, once. */
export function failNth(nth: number, error: unknown): FaultHook {
  let batches = 0;
  return () => {
    batches += 1;
    return batches === nth ? error : null;
  };
}
