// Owns the recorded histories (H2, H3): many clients on few keys, every read and commit noted, and
// the whole checked exactly. Rounds are checked one by one, each on a store of its own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentTxError } from "@agenttx/model";
import { openStore, type Store, type StoreTransaction } from "@agenttx/storage";
import { checkHistory, type ReadEvent, type Recorded } from "../isolation/history.js";
import { randomOf, type Suite, seedOf, weaknesses } from "../suite.js";

const CLIENTS = 64;
const TRANSACTIONS_PER_ROUND = 4_000;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

type Random = () => number;

class Round {
  readonly recorded: Recorded[] = [];
  conflicts = 0;
  aborts = 0;
  readonly #store: Store;
  readonly #random: Random;
  readonly #keys: number;
  #event = 0;
  #begun = 0;
  #value = 0;

  constructor(store: Store, random: Random, keys: number) {
    this.#store = store;
    this.#random = random;
    this.#keys = keys;
  }

  async run(): Promise<void> {
    const clients = Array.from({ length: CLIENTS }, () => this.#client());
    await Promise.all(clients);
  }

  async #client(): Promise<void> {
    while (this.#begun < TRANSACTIONS_PER_ROUND) {
      this.#begun += 1;
      await this.#transaction(`t${this.#begun}`);
    }
  }

  /** Few keys are wanted by many. */
  #key(): string {
    return `k${Math.floor(this.#keys * this.#random() ** 3)}`;
  }

  async #transaction(id: string): Promise<void> {
    const serializable = this.#random() < 0.3;
    const isolation = serializable ? "serializable" : "read-committed";
    const tx = await this.#store.begin(id, { isolation });
    const reads: ReadEvent[] = [];
    const writes = new Map<string, string | null>();
    const steps = 1 + Math.floor(this.#random() * 5);
    for (let step = 0; step < steps; step += 1) await this.#step(tx, reads, writes);
    const commitBegan = ++this.#event;
    const version = await this.#end(tx);
    const commitEnded = ++this.#event;
    this.recorded.push({ id, serializable, reads, writes, version, commitBegan, commitEnded });
  }

  async #step(tx: StoreTransaction, reads: ReadEvent[], writes: Map<string, string | null>) {
    const key = this.#key();
    const chance = this.#random();
    if (chance < 0.5) {
      const began = ++this.#event;
      const bytes = await tx.get(key);
      const value = bytes === null ? null : DECODER.decode(bytes);
      if (!writes.has(key)) reads.push({ key, value, began, ended: ++this.#event });
      return;
    }
    const value = chance < 0.9 ? `v${++this.#value}` : null;
    writes.set(key, value);
    await (value === null ? tx.delete(key) : tx.put(key, ENCODER.encode(value)));
  }

  async #end(tx: StoreTransaction): Promise<bigint | null> {
    if (this.#random() < 0.1) {
      this.aborts += 1;
      await tx.discard();
      return null;
    }
    try {
      return (await tx.commit()).commitVersion;
    } catch (error) {
      if (!isAgentTxError(error) || error.code !== "WRITE_CONFLICT") throw error;
      this.conflicts += 1;
      await tx.discard();
      return null;
    }
  }
}

async function finalState(store: Store): Promise<Map<string, string>> {
  const entries = await store.scan({ limit: 100_000 });
  return new Map(entries.map(({ key, value }) => [DECODER.decode(key), DECODER.decode(value)]));
}

async function runRound(seed: number) {
  const random = randomOf(seed);
  const path = await mkdtemp(join(tmpdir(), "agenttx-torture-"));
  const store = await openStore({ path, syncWrites: random() < 0.5 });
  try {
    const round = new Round(store, random, 50 + Math.floor(random() * 450));
    await round.run();
    const verdict = checkHistory(round.recorded, await finalState(store));
    const commits = round.recorded.filter(({ version }) => version !== null).length;
    return { ...verdict, commits, conflicts: round.conflicts, aborts: round.aborts };
  } finally {
    await store.close();
    await rm(path, { recursive: true, force: true });
  }
}

export const histories: Suite = {
  name: "histories",
  about: "64 clients on few keys; every read and commit checked by its version (H2, H3)",
  async run({ seed, seconds, cursor }) {
    const ends = Date.now() + seconds * 1_000;
    const started = Date.now();
    const figures = { commits: 0, conflicts: 0, aborts: 0, readsChecked: 0, overtaken: 0 };
    const violations: string[] = [];
    let round = Number(cursor ?? 0);
    const first = round;
    for (; Date.now() < ends || round === first; round += 1) {
      const done = await runRound(seedOf(seed, round));
      violations.push(...done.violations.slice(0, 10).map((text) => `round ${round}: ${text}`));
      for (const name of Object.keys(figures) as (keyof typeof figures)[]) {
        figures[name] += done[name];
      }
    }
    const { commits, conflicts } = figures;
    const perSecond = (commits * 1_000) / (Date.now() - started);
    return {
      cycles: (round - first) * TRANSACTIONS_PER_ROUND,
      violations: violations.slice(0, 100),
      figures,
      weak: weaknesses({
        "at least one end in twenty is a conflict": conflicts * 20 >= commits + conflicts,
        "at least 100 commits a second": perSecond >= 100,
        "some reads were overtaken": figures.overtaken > 0,
      }),
      cursor: String(round),
    };
  },
};
