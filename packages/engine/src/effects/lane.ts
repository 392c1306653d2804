// Owns a lane of background work: keys wait in order, a bounded number runs, none runs twice at once.

export class Lane<Item> {
  readonly #width: number;
  readonly #work: (item: Item) => Promise<void>;
  readonly #onIdle: () => void;
  readonly #waiting = new Map<string, Item>();
  readonly #running = new Map<string, Promise<void>>();

  /** `work` must not reject. `onIdle` is called when the last item has ended. */
  constructor(width: number, work: (item: Item) => Promise<void>, onIdle: () => void) {
    this.#width = width;
    this.#work = work;
    this.#onIdle = onIdle;
  }

  /** Takes the item in, unless its key waits or runs already. */
  add(key: string, item: Item): void {
    if (this.#waiting.has(key) || this.#running.has(key)) return;
    this.#waiting.set(key, item);
    this.#fill();
  }

  /** Forgets what waits and resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #fill(): void {
    for (const [key, item] of this.#waiting) {
      if (this.#running.size >= this.#width) return;
      this.#waiting.delete(key);
      this.#running.set(key, this.#run(key, item));
    }
  }

  async #run(key: string, item: Item): Promise<void> {
    await this.#work(item);
    this.#running.delete(key);
    this.#fill();
    if (this.#running.size === 0) this.#onIdle();
  }
}
