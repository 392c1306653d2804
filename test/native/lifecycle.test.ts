// Goal: opening and closing in every order neither crashes, hangs nor loses an answer (A4).
// Method: storms of real opens and closes with work of every kind in flight.

import { openStore, type Store, type StoreTransaction } from "@agenttx/storage";
import { describe, expect, it } from "vitest";
import { runChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const value = new Uint8Array(512).fill(1);

/** One call of each kind, by turns. */
const CALLS: readonly ((store: Store, tx: StoreTransaction, number: number) => Promise<unknown>)[] =
  [
    (_store, tx, number) => tx.put(`k${number}`, value),
    (_store, tx) => tx.put("large", new Uint8Array(200_000)),
    (_store, tx) => tx.get("k0"),
    (_store, tx) => tx.scan(),
    (_store, tx) => tx.commit(),
    (_store, tx) => tx.restoreSnapshot(1),
    (_store, tx) => tx.discard(),
    (store) => store.get("k0"),
    (store) => store.scan(),
    (store, _tx, number) => store.begin(`late${number}`),
    (store) => store.openTransactions(),
    (store) => store.stats(),
    (store) => store.readAudit(null),
    (store) => store.writeRecords("", { storeAudit: [value] }),
    (store) => store.scanRecords("effect", { transaction: null }),
    (store) => store.reopen(),
  ];

describe("lifecycle", () => {
  it("opens and closes a path 500 times and finds what it kept", { timeout: 300_000 }, async () => {
    const path = await temporaryDirectory();
    const incarnations = new Set<bigint>();
    for (let round = 0; round < 500; round += 1) {
      const store = await openStore({ path });
      incarnations.add(store.incarnation);
      if (round % 50 === 0) {
        const tx = await store.begin(`t${round}`);
        await tx.put(`k${round}`, value);
        await tx.commit();
      }
      await store.close();
    }
    expect(incarnations.size).toBe(500);
    await using store = await openStore({ path });
    expect((await store.scan()).length).toBe(10);
  });

  for (const syncWrites of [false, true]) {
    for (const count of [1, 2, 4, 8, 16, 32, 64]) {
      it(`answers all of ${count} calls in flight at close (syncWrites ${syncWrites})`, async () => {
        const path = await temporaryDirectory();
        const store = await openStore({ path, syncWrites });
        const handles = await Promise.all(
          Array.from({ length: count }, (_, number) => store.begin(`t${number}`)),
        );
        await Promise.all(handles.map((tx, number) => tx.put(`own${number}`, value)));
        const calls = handles.map((tx, number) => {
          const call = CALLS[number % CALLS.length];
          if (call === undefined) throw new Error("there is a call for every number");
          return call(store, tx, number);
        });
        const closed = store.close();
        const answers = await Promise.allSettled([...calls, closed]);
        expect(answers.at(-1)?.status).toBe("fulfilled");
        for (const answer of answers) {
          if (answer.status === "fulfilled") continue;
          // A reopen among them makes the handles of before stale.
          expect(["STORE_CLOSED", "STALE_OWNER"]).toContain(answer.reason.code);
        }
        await using again = await openStore({ path });
        expect((await again.stats()).poisoned).toBe(null);
      });
    }
  }

  it("closes once however often and from wherever it is asked", async () => {
    const path = await temporaryDirectory();
    const store = await openStore({ path });
    const tx = await store.begin("t");
    await tx.put("k", value);
    const large = tx.put("large", new Uint8Array(1024 * 1024));
    await Promise.all([store.close(), store.close(), store[Symbol.asyncDispose](), large]);
    await store.close();
    await tx[Symbol.asyncDispose]();
    await tx[Symbol.asyncDispose]();
    await using again = await openStore({ path });
    expect((await (await again.attach("t")).get("large"))?.length).toBe(1024 * 1024);
  });

  it("shares one database between opens of a path until the last close", async () => {
    const path = await temporaryDirectory();
    const first = await openStore({ path });
    const second = await openStore({ path });
    const tx = await first.begin("t");
    await tx.put("k", value);
    await tx.commit();
    expect(await second.get("k")).toEqual(value);
    await first.close();
    expect(await second.get("k")).toEqual(value);
    await expect(first.get("k")).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await second.close();
    await using third = await openStore({ path });
    expect(await third.get("k")).toEqual(value);
  });

  it("frees abandoned handles, keeps their transactions and survives an abandoned store", {
    timeout: 60_000,
  }, async () => {
    const child = await runChild(
      "abandon-handles.mjs",
      [await temporaryDirectory()],
      ["--expose-gc"],
    );
    expect(child).toMatchObject({
      code: 0,
      signal: null,
      lines: ["handles 0", "open 500", "value 100", "end"],
    });
  });
});
