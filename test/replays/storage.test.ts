// Goal: bug reports 33, 35, 37 and 39 on both stores: deleted keys stay deleted, large transactions
// are refused whole, a transaction held open harms nobody, and a purge ends at its own name.
//
//   AGENTTX_LONG=1   the sizes of the reports instead of the bounded ones
import { AgentTxError, type Store, type StoreTransaction, type Write } from "@agenttx/model";
import { beforeEach, describe, expect, it } from "vitest";
import { DRIVERS } from "./drivers.js";

const LONG = process.env.AGENTTX_LONG === "1";
const SCALE = LONG ? 10 : 1;
const KIB_64 = 64 * 1024;
const TIMEOUT_MS = LONG ? 3_600_000 : 60_000;

const bytes = (text: string) => Buffer.from(text);
const textOf = (value: Uint8Array) => Buffer.from(value).toString();

/** mulberry32: the same seed, the same rounds. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function keysOf(store: Store): Promise<string[]> {
  return (await store.scan({ limit: 100_000 })).map(({ key }) => textOf(key));
}

async function inOne(store: Store, id: string, writes: readonly Write[]): Promise<void> {
  const tx = await store.begin(id);
  await tx.write(writes);
  await tx.commit();
}

describe.each(DRIVERS)("on $name", (driver) => {
  it(
    "33: a key that was deleted never comes back, whatever runs beside it",
    async () => {
      const seed = 33;
      const random = randomFrom(seed);
      const opened = await driver.open();
      let { store } = opened;
      const model = new Set<string>();
      const rounds = 60 * SCALE;
      for (let round = 0; round < rounds; round += 1) {
        const fresh = Array.from({ length: 100 }, () => `k${Math.floor(random() * 400)}`);
        await inOne(
          store,
          `in-${round}`,
          fresh.map((key) => ({ key, value: bytes(key) })),
        );
        for (const key of fresh) model.add(key);
        // The reader saw some of them; what it saw goes in one batch.
        const reader = await store.begin(`out-${round}`);
        const seen = (await reader.scan({ limit: 60 })).map(({ key }) => textOf(key));
        await reader.write(seen.map((key) => ({ key, value: null })));
        await reader.commit();
        for (const key of seen) model.delete(key);
        // Another log and other files now and then: compaction has something to do.
        if (round % 20 === 19) store = await opened.restart();
        const about = `seed ${seed}, round ${round}`;
        expect(await keysOf(store), about).toEqual([...model].sort());
      }
    },
    TIMEOUT_MS,
  );

  describe("35: a transaction that is too large", () => {
    it(
      "is refused with the name of the limit; nothing of the batch is written",
      async () => {
        const { store } = await driver.open();
        const limit = 4 * 1024 * 1024;
        const tx = await store.begin("large", { bytesMax: limit });
        await tx.put("before", bytes("kept"));
        const batch = Array.from({ length: 100 }, (_, index) => ({
          key: `v${index}`,
          value: new Uint8Array(KIB_64),
        }));
        await expect(tx.write(batch)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
        await expect(tx.write(batch)).rejects.toThrow(String(limit));
        expect((await tx.scan()).map(({ key }) => textOf(key))).toEqual(["before"]);
        await tx.put("after", bytes("works"));
        await tx.commit();
        expect(await keysOf(store)).toEqual(["after", "before"]);
      },
      TIMEOUT_MS,
    );

    it(
      "succeeds whole within the limit, values rewritten included",
      async () => {
        const { store } = await driver.open();
        const count = 300 * SCALE;
        const tx = await store.begin("large");
        const value = (fill: number) => new Uint8Array(KIB_64).fill(fill);
        await tx.write(
          Array.from({ length: count }, (_, index) => ({ key: `v${index}`, value: value(1) })),
        );
        await tx.write(
          Array.from({ length: 100 }, (_, index) => ({ key: `v${index}`, value: value(2) })),
        );
        expect(await tx.commit()).toMatchObject({ keysPublished: count });
        expect((await store.get("v99"))?.at(0)).toBe(2);
        expect((await store.get("v100"))?.at(-1)).toBe(1);
        await inOne(store, "small", [{ key: "small", value: bytes("works") }]);
        expect(textOf((await store.get("small")) ?? bytes(""))).toBe("works");
      },
      TIMEOUT_MS,
    );
  });

  it(
    "37: a transaction held open under heavy writes harms nobody; an empty key is refused",
    async () => {
      const opened = await driver.open();
      const { store } = opened;
      await inOne(store, "seed", [{ key: "held", value: bytes("first") }]);
      const held = await store.begin("held");
      expect(textOf((await held.get("held")) ?? bytes(""))).toBe("first");
      const until = performance.now() + (LONG ? 60_000 : 1_500);
      let rounds = 0;
      for (; performance.now() < until || rounds < 5; rounds += 1) {
        const names = Array.from({ length: 20 }, (_, index) => `blob${index}`);
        const blob = new Uint8Array(KIB_64).fill(rounds % 251);
        await inOne(
          store,
          `put-${rounds}`,
          names.map((key) => ({ key, value: blob })),
        );
        const gone = names.slice(0, 15).map((key) => ({ key, value: null }));
        await inOne(store, `del-${rounds}`, gone);
      }
      await expect(held.put("", bytes("x"))).rejects.toMatchObject({ code: "INVALID_KEY" });
      // Its commit fails for this transaction alone: somebody else has changed what it read.
      await inOne(store, "other", [{ key: "held", value: bytes("second") }]);
      await held.put("held", bytes("third"));
      await expect(held.commit()).rejects.toMatchObject({ code: "WRITE_CONFLICT" });
      await held.discard();
      const after = await opened.restart();
      const kept = Array.from({ length: 5 }, (_, index) => `blob${index + 15}`);
      expect(await keysOf(after)).toEqual([...kept, "held"].sort());
      expect(textOf((await after.get("held")) ?? bytes(""))).toBe("second");
      for (const key of kept) expect((await after.get(key))?.length).toBe(KIB_64);
      expect(await after.openTransactions()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  describe("39: a purge", () => {
    const NAMES = ["t", "t1", "t-1", "t|1", "t\u0000", "t/"] as const;
    const OTHERS = NAMES.filter((name) => name !== "t");
    let store: Store;
    let restart: () => Promise<Store>;

    beforeEach(async () => {
      const opened = await driver.open();
      store = opened.store;
      restart = () => opened.restart();
    });

    /** Over the size from which a driver may remove by ranges. */
    const KEYS = 300;

    async function fill(name: string): Promise<StoreTransaction> {
      const tx = await store.begin(name);
      for (let step = 1; step <= 3; step += 1) {
        await tx.apply({
          writes: Array.from({ length: KEYS }, (_, index) => ({
            key: `${index}`,
            value: bytes(`${name} ${step} ${index}`),
          })),
          records: [
            { space: "output", step, value: bytes(`${name} output ${step}`) },
            { space: "saga", step, seq: step, value: bytes(`${name} undo`) },
            { space: "effect", seq: step, value: bytes(`${name} effect`) },
            { space: "request", name: `r${step}`, value: bytes(`${name} answer`) },
          ],
          audit: [bytes(`${name} audit ${step}`)],
          next: { step: step + 1 },
          snapshot: step + 1,
        });
      }
      return tx;
    }

    /** Everything that a caller can see of a transaction that is open. */
    async function seenOf(name: string, from: Store): Promise<unknown> {
      const tx = await from.attach(name);
      const hex = (value: Uint8Array) => Buffer.from(value).toString("hex");
      const records = [];
      for (const space of ["output", "saga", "effect", "request"] as const) {
        const found = await from.scanRecords(space, { transaction: name, limit: 1_000 });
        records.push(
          ...found.map(({ step, seq, name, value }) => [space, step, seq, name, hex(value)]),
        );
      }
      const state = (await tx.scan({ limit: 1_000 })).map(({ key, value }) => [
        hex(key),
        hex(value),
      ]);
      const audit = (await from.readAudit(name)).map(({ hash, payload }) => [
        hex(hash),
        hex(payload),
      ]);
      return { state, records, audit, step: tx.header().step, snapshot: tx.header().snapshot };
    }

    it.each(["discard", "commit", "restore"] as const)(
      "by %s touches its own transaction alone",
      async (way) => {
        const open = new Map<string, StoreTransaction>();
        for (const name of NAMES) open.set(name, await fill(name));
        const before = new Map<string, unknown>();
        for (const name of OTHERS) before.set(name, await seenOf(name, store));
        const purged = open.get("t");
        if (purged === undefined) throw new AgentTxError("INTERNAL", "t was not begun");
        if (way === "discard") await purged.discard();
        else if (way === "commit") await purged.commit();
        else await purged.restoreSnapshot(1);
        for (const name of OTHERS)
          expect(await seenOf(name, store), name).toEqual(before.get(name));
        const after = await restart();
        for (const name of OTHERS)
          expect(await seenOf(name, after), name).toEqual(before.get(name));
        // And it is gone where it was to go.
        const outputs = await after.scanRecords("output", { transaction: "t", limit: 1_000 });
        expect(outputs).toEqual([]);
      },
    );
  });
});
