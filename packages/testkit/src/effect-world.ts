// Owns a world outside, in memory: what was done to it and undone, by idempotency key. It counts, so
// that "exactly once" and "nothing left" are assertions and not hopes.

import type { JsonValue } from "@agenttx/model";

export interface EffectCount {
  /** Times the effect took place; a repeated key that the world recognised is not counted. */
  readonly done: number;
  readonly undone: number;
  /** Repeated keys that the world recognised. */
  readonly repeated: number;
}

export interface EffectWorldOptions {
  /** A world that does not know idempotency keys does everything again. Default true. */
  readonly recognisesKeys?: boolean;
}

export interface EffectWorld {
  /** The effect takes place. True when it is new, false when the key was recognised. */
  do(key: string, payload?: JsonValue): boolean;
  /** It is taken back. `already-undone`: there is nothing of it. */
  undo(key: string): "undone" | "already-undone";
  /** Something of this key stands. */
  stands(key: string): boolean;
  count(key: string): EffectCount;
  /** Keys of which something stands, in order of doing. */
  standing(): readonly string[];
  /** Payload of the last doing of a key. */
  payload(key: string): JsonValue;
  /** Everything that happened, as `do key` and `undo key`, in order. */
  readonly history: readonly string[];
}

/** An empty world. */
export function effectWorld(options: EffectWorldOptions = {}): EffectWorld {
  const recognises = options.recognisesKeys ?? true;
  const counts = new Map<string, { done: number; undone: number; repeated: number }>();
  const payloads = new Map<string, JsonValue>();
  const history: string[] = [];
  const countOf = (key: string) => {
    const known = counts.get(key) ?? { done: 0, undone: 0, repeated: 0 };
    counts.set(key, known);
    return known;
  };
  const stands = (key: string): boolean => {
    const known = counts.get(key);
    return known !== undefined && known.done > known.undone;
  };
  return {
    do: (key, payload = null) => {
      const count = countOf(key);
      if (recognises && count.done > 0) {
        count.repeated += 1;
        return false;
      }
      count.done += 1;
      payloads.set(key, payload);
      history.push(`do ${key}`);
      return true;
    },
    undo: (key) => {
      if (!stands(key)) return "already-undone";
      countOf(key).undone += 1;
      history.push(`undo ${key}`);
      return "undone";
    },
    stands,
    count: (key) => ({ ...(counts.get(key) ?? { done: 0, undone: 0, repeated: 0 }) }),
    standing: () => [...counts.keys()].filter(stands),
    payload: (key) => payloads.get(key) ?? null,
    history,
  };
}
