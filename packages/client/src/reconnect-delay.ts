// Owns how long to wait before the next try to connect.

/** Milliseconds: exponential from 50 ms to 1 s, the upper half of it at random. `random` in [0, 1). */
export function reconnectDelay(failures: number, random: number): number {
  const cap = Math.min(1_000, 50 * 2 ** Math.min(failures, 6));
  return Math.ceil(cap * (0.5 + random / 2));
}
