// Owns which request ids were asked for in a transaction since it began in this process, so that a
// new one needs no look into the store (P1).
//
//   A1 An id that was ever passed to `note` is known for ever: the store is asked about it. What is
//      answered under an id was noted before, so nothing stored is missed.
//   A2 A false "known" costs a read of the store and nothing else: only 32 bits of an id are kept.

/** Beyond so many ids every id counts as known: memory stays bounded. */
const IDS_MAX = 1 << 16;
const SLOTS_FIRST = 16;

export class AskedRequests {
  /** Open addressing, at most half full; 0 is an empty slot. */
  #slots = new Int32Array(SLOTS_FIRST);
  #count = 0;

  /** Whether the id may have been asked for before; from now on it has. */
  note(id: string): boolean {
    if (this.#count >= IDS_MAX) return true;
    if (!this.#add(fingerprint(id))) return true;
    this.#count += 1;
    if (this.#count * 2 > this.#slots.length) this.#grow();
    return false;
  }

  #add(print: number): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = print & mask;
    for (; slots[at] !== 0; at = (at + 1) & mask) {
      if (slots[at] === print) return false;
    }
    slots[at] = print;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    for (const print of old) if (print !== 0) this.#add(print);
  }
}

/** FNV-1a over UTF-16 units, mixed so that the low bits depend on all of it; never 0. */
function fingerprint(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return hash === 0 ? 1 : hash;
}
