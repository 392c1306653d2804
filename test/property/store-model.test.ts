// Goal: the RocksDB driver answers as the reference store does, to any sequence of operations by up
// to three transactions at once, restarts included. Method: the same random operations on both,
// compared after each. A failure prints its seed; AGENTTX_PROPERTY_RUNS sets how many sequences.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store, type StoreTransaction } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/storage/memory";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Operation, operation, perform, type Slots, shown } from "./store-operations.js";

const RUNS = Number(process.env.AGENTTX_PROPERTY_RUNS ?? 60);
/** A slow machine does fewer runs than asked, and says how many. */
const TIME_LIMIT_MS = 700 * RUNS;
/** All but outputs, which are read by transaction below. */
const SPACES = ["saga", "effect", "outbox", "request", "terminal", "late", "meta"] as const;

type Factory = () => Promise<{
  readonly store: Store;
  readonly restart: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
}>;

const memory: Factory = async () => {
  const store = openMemoryStore();
  return {
    store,
    restart: async () => {
      await store.reopen();
      return store;
    },
    cleanup: () => store.close(),
  };
};

const rocks: Factory = async () => {
  const path = await mkdtemp(join(tmpdir(), "agenttx-property-"));
  let store = await openStore({ path });
  return {
    store,
    restart: async () => {
      await store.close();
      store = await openStore({ path });
      return store;
    },
    cleanup: async () => {
      await store.close();
      await rm(path, { recursive: true, force: true });
    },
  };
};

/** Header and visible state of every open transaction. */
async function seen(slots: Slots): Promise<string> {
  const rows: unknown[] = [];
  for (const [slot, tx] of [...slots.open].sort(([one], [other]) => one - other)) {
    const { owner, attempt, step, snapshot, payload } = tx.header();
    rows.push([slot, tx.id, owner, attempt, step, snapshot, payload, tx.touched().written]);
  }
  return shown(rows);
}

/** All there is in a store, read by every way there is. */
async function everything({ store, ids }: Slots): Promise<string> {
  const committed = await store.scan();
  const versions = [];
  for (const { key } of committed) versions.push((await store.getVersioned(key))?.version);
  const records = [];
  for (const space of SPACES) {
    const rows = await store.scanRecords(space, { transaction: null });
    records.push(rows.map(shown).sort());
  }
  const chains = [];
  for (const id of ids) {
    records.push(await store.scanRecords("output", { transaction: id }));
    chains.push(await store.readAudit(id));
  }
  const open = (await store.openTransactions()).map(({ id }) => id).sort();
  const { commitVersion } = await store.stats();
  chains.push(await store.readAudit(null));
  return shown([committed, versions, records, open, commitVersion, chains]);
}

async function overlayOf(tx: StoreTransaction): Promise<string> {
  // Point reads: a serializable transaction refuses to scan. Read after all comparisons.
  const keys = ["a", "a/", "a\u0000"];
  return shown(await tx.getMany(keys));
}

interface Totals {
  runs: number;
  commits: number;
  conflicts: number;
  operations: number;
}

/** The property: both stores answer alike after each operation, and are alike at the end. */
function alike(one: Factory, other: Factory, totals: Totals) {
  // "max": the default size would draw hardly more than ten.
  const operations = fc.array(operation, { minLength: 10, maxLength: 200, size: "max" });
  return fc.asyncProperty(operations, async (drawn) => {
    const opened = [await one(), await other()];
    try {
      const both = opened.map(
        ({ store, restart }): Slots => ({
          store,
          restart,
          open: new Map(),
          ids: [],
          commits: 0,
          conflicts: 0,
        }),
      );
      for (const each of drawn) await compare(both, each);
      const [left, right] = await Promise.all(both.map(everything));
      expect(right).toBe(left);
      await compareOverlays(both);
      totals.runs += 1;
      totals.commits += both[0]?.commits ?? 0;
      totals.conflicts += both[0]?.conflicts ?? 0;
      totals.operations += drawn.length;
    } finally {
      for (const { cleanup } of opened) await cleanup();
    }
  });
}

async function compare(both: readonly Slots[], drawn: Operation): Promise<void> {
  const answers = [];
  for (const slots of both) answers.push(await perform(slots, drawn));
  expect(answers[1], `answer to ${JSON.stringify(drawn)}`).toBe(answers[0]);
  const views = await Promise.all(both.map(seen));
  expect(views[1], `state after ${JSON.stringify(drawn)}`).toBe(views[0]);
}

async function compareOverlays(both: readonly Slots[]): Promise<void> {
  const [left, right] = both.map(({ open }) => [...open.values()]);
  for (const [index, tx] of (left ?? []).entries()) {
    const twin = right?.[index];
    expect(twin?.id).toBe(tx.id);
    expect(twin && (await overlayOf(twin))).toBe(await overlayOf(tx));
  }
}

/** A memory store of which one method is replaced by a wrong one. */
function defective(
  name: keyof StoreTransaction,
  wrong: (tx: StoreTransaction) => unknown,
): Factory {
  const spoil = (tx: StoreTransaction): StoreTransaction =>
    new Proxy(tx, {
      get: (inner, asked) => {
        if (asked === name) return wrong(inner);
        const value: unknown = Reflect.get(inner, asked, inner);
        return typeof value === "function" ? value.bind(inner) : value;
      },
    });
  return async () => {
    const opened = await memory();
    const store = new Proxy(opened.store, {
      get: (inner, asked) => {
        const value: unknown = Reflect.get(inner, asked, inner);
        if (typeof value !== "function") return value;
        if (asked !== "begin" && asked !== "attach" && asked !== "fork") return value.bind(inner);
        return async (...args: unknown[]) =>
          spoil((await value.apply(inner, args)) as StoreTransaction);
      },
    });
    return { ...opened, store, restart: () => opened.restart().then(() => store) };
  };
}

describe("any sequence of store operations", () => {
  it(
    "is answered by RocksDB as by the reference",
    async () => {
      const totals: Totals = { runs: 0, commits: 0, conflicts: 0, operations: 0 };
      await fc.assert(alike(memory, rocks, totals), {
        numRuns: RUNS,
        interruptAfterTimeLimit: TIME_LIMIT_MS,
      });
      console.info(`${totals.runs} of ${RUNS} runs, ${totals.operations} operations`);
      expect(totals.runs).toBeGreaterThan(0);
      // The property proves little when transactions never meet. Few runs say little of that.
      if (totals.runs < RUNS) return;
      expect(totals.conflicts / totals.commits).toBeGreaterThanOrEqual(0.2);
    },
    3 * TIME_LIMIT_MS,
  );

  const defects: readonly (readonly [string, Factory])[] = [
    [
      "forgets to validate reads",
      defective("get", (tx) => (key: Uint8Array) => tx.get(key, { validate: false })),
    ],
    [
      "restores one snapshot too far",
      defective(
        "restoreSnapshot",
        (tx) => (step: number, options?: object) =>
          tx.restoreSnapshot(Math.max(0, step - 1), options),
      ),
    ],
    [
      "applies batches without their fence",
      defective(
        "apply",
        (tx) =>
          ({ fence: _, ...batch }: { fence?: unknown }) =>
            tx.apply(batch),
      ),
    ],
    [
      "turns deletions into empty values",
      defective(
        "write",
        (tx) => (writes: readonly { key: Uint8Array; value: Uint8Array | null }[]) =>
          tx.write(writes.map(({ key, value }) => ({ key, value: value ?? new Uint8Array(0) }))),
      ),
    ],
  ];
  for (const [title, store] of defects) {
    it(`would give away a store that ${title}`, async () => {
      const totals: Totals = { runs: 0, commits: 0, conflicts: 0, operations: 0 };
      const found = await fc.check(alike(memory, store, totals), { numRuns: 200, seed: 7 });
      expect(found.failed).toBe(true);
    });
  }
});
