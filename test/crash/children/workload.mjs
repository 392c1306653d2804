// Owns the random work of a victim: lanes of transactions that meet on shared keys and counters,
// with effects, failures, rewinds, aborts and commits, until it dies.
import { abort, begin, commit, rollback, step } from "./acts.mjs";
import { randomFrom } from "./random.mjs";

const STEPS_MAX = 7;

export class Workload {
  #random;
  #engine;
  #prefix;
  #items = 0;

  constructor(engine, seed, prefix) {
    this.#engine = engine;
    this.#random = randomFrom(seed);
    this.#prefix = prefix;
  }

  /** Lanes run until one throws; `left` are transactions of an earlier process to go on with. */
  async run(lanes, left) {
    const queue = [...left];
    await Promise.all(Array.from({ length: lanes }, () => this.#lane(queue)));
  }

  async #lane(queue) {
    for (;;) {
      const tx = queue.shift() ?? (await begin(this.#engine, this.#name()));
      await this.#work(tx);
    }
  }

  async #work(tx) {
    const random = this.#random;
    const steps = 1 + random.below(STEPS_MAX);
    // Its own mark: one key that no other transaction ever writes.
    if (tx.nextStep === 1 && !(await this.#own(tx))) return;
    for (let done = 0; done < steps; done += 1) {
      if (!(await this.#act(tx))) return this.#leave(tx);
      if (tx.nextStep === 1 && !(await this.#own(tx))) return;
    }
    if (random.chance(0.8)) await commit(tx);
    else await abort(tx);
  }

  /** Frozen, or ended by the policy: a frozen one is aborted now and then. */
  async #leave(tx) {
    if (tx.status === "FROZEN" && this.#random.chance(0.5)) await abort(tx);
  }

  #own(tx) {
    const item = this.#name();
    return step(tx, item, "kv.put", { key: `own/${item}`, value: item });
  }

  async #act(tx) {
    const random = this.#random;
    const item = this.#name();
    const roll = random.below(100);
    if (roll < 12) return step(tx, item, "kv.put", { key: `own/${item}`, value: item });
    if (roll < 24) {
      return step(tx, item, "kv.put", { key: `shared/${random.below(4)}`, value: item });
    }
    if (roll < 28) return step(tx, item, "kv.delete", { key: `shared/${random.below(4)}` });
    if (roll < 38) return step(tx, item, "bump", { counter: String(random.below(6)) });
    if (roll < 42) return step(tx, item, "kv.get", { key: `shared/${random.below(4)}` });
    if (roll < 60) return step(tx, item, "book", this.#outside(item));
    if (roll < 64) return step(tx, item, "wire", { item });
    if (roll < 74) return step(tx, item, "parts", { item });
    if (roll < 86) return step(tx, item, "effect.stage", { sink: "mail", payload: { item } });
    if (roll < 93) return step(tx, item, "refuse", { field: random.pick(["key", "item", "zz"]) });
    return rollback(tx, 1 + random.below(Math.max(tx.nextStep, 1)));
  }

  #outside(item) {
    const roll = this.#random.below(10);
    // Slower than the tool's deadline: the lookup decides.
    if (roll === 0) return { item, delayMs: 150 };
    if (roll === 1) return { item, fail: true };
    return { item };
  }

  #name() {
    this.#items += 1;
    return `${this.#prefix}-${this.#items}`;
  }
}
