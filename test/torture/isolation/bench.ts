// Owns the short forms in which the isolation cases are written: text keys and values, transactions
// at one level, and a commit that says whether it was refused.
import { isAgentTxError } from "@agenttx/model";
import type { Store, StoreTransaction } from "@agenttx/storage";
import type { Level } from "./anomalies.js";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

export class Tx {
  readonly inner: StoreTransaction;
  readonly #bench: Bench;

  constructor(bench: Bench, inner: StoreTransaction) {
    this.#bench = bench;
    this.inner = inner;
  }

  async get(key: string): Promise<string | null> {
    const validate = this.#bench.level === "validate";
    const value = await this.inner.get(this.#bench.prefix + key, { validate });
    return value === null ? null : DECODER.decode(value);
  }

  put(key: string, value: string): Promise<void> {
    return this.inner.put(this.#bench.prefix + key, ENCODER.encode(value));
  }

  delete(key: string): Promise<void> {
    return this.inner.delete(this.#bench.prefix + key);
  }

  /** Keys that a scan finds; null when scans are refused. */
  async keys(): Promise<string[] | null> {
    try {
      const entries = await this.inner.scan({ prefix: this.#bench.prefix });
      return entries.map(({ key }) => DECODER.decode(key).slice(this.#bench.prefix.length));
    } catch (error) {
      if (isAgentTxError(error) && error.code === "SCAN_NOT_SERIALIZABLE") return null;
      throw error;
    }
  }

  /** False: refused by a conflict, and discarded. */
  async commit(): Promise<boolean> {
    try {
      await this.inner.commit();
      return true;
    } catch (error) {
      if (!isAgentTxError(error) || error.code !== "WRITE_CONFLICT") throw error;
      await this.inner.discard();
      return false;
    }
  }

  abort(): Promise<void> {
    return this.inner.discard();
  }
}

export class Bench {
  readonly level: Level;
  readonly prefix: string;
  readonly #store: Store;
  #begun = 0;

  constructor(store: Store, level: Level, prefix: string) {
    this.#store = store;
    this.level = level;
    this.prefix = prefix;
  }

  async begin(): Promise<Tx> {
    this.#begun += 1;
    const isolation = this.level === "serializable" ? "serializable" : "read-committed";
    return new Tx(this, await this.#store.begin(`${this.prefix}${this.#begun}`, { isolation }));
  }

  /** Commits values without reading anything. */
  async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    const tx = await this.begin();
    for (const [key, value] of Object.entries(values)) {
      await (value === null ? tx.delete(key) : tx.put(key, value));
    }
    if (!(await tx.commit())) throw new Error("an undisturbed commit was refused");
  }

  async committed(key: string): Promise<string | null> {
    const value = await this.#store.get(this.prefix + key);
    return value === null ? null : DECODER.decode(value);
  }

  /** Nothing stays open. */
  async end(): Promise<void> {
    for (const { id } of await this.#store.openTransactions()) {
      if (id.startsWith(this.prefix)) await (await this.#store.attach(id)).discard();
    }
  }
}
