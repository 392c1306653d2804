// Owns seeded chance: the same seed gives the same keys, values and orders.

/** A generator of numbers in [0, 1) (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** The items in another order, each once. */
export function shuffled(items, random) {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other], copy[last]];
  }
  return copy;
}

/** `bytes` bytes of printable text. */
export function textOf(bytes, random) {
  let text = "";
  while (text.length < bytes) text += Math.floor(random() * 0x1_0000_0000).toString(36);
  return text.slice(0, bytes);
}
