// Owns the claims about handles and the store's own life: begin, attach, reopen, close.

import type { Claims } from "./harness.js";
import { bytes, publish, refusal, shown, text } from "./harness.js";

export const lifecycleClaims: Claims = {
  "refuses to begin an id that is open and leaves the open one alone": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t", { payload: bytes("first") });
    await tx.put("k", bytes("v"));
    const again = () => store.begin("t", { payload: bytes("second"), audit: [bytes("a")] });
    expect(await refusal(again)).toBe("TRANSACTION_EXISTS");
    expect(text(tx.header().payload)).toBe("first");
    expect(text(await tx.get("k"))).toBe("v");
    expect(await store.readAudit("t")).toEqual([]);
  },
  "writes records, audit and payload of a begin with it": async ({ store, expect }) => {
    await store.begin("t", {
      payload: bytes("p"),
      records: [{ space: "request", name: "r", value: bytes("answer") }],
      audit: [bytes("began")],
    });
    expect(text(await store.readRecord("t", { space: "request", name: "r" }))).toBe("answer");
    expect((await store.readAudit("t")).map((row) => text(row.payload))).toEqual(["began"]);
  },
  "finds nothing to attach to where nothing is open": async ({ store, expect }) => {
    await store.begin("t", { namespace: "n" });
    expect(await refusal(() => store.attach("t"))).toBe("NOT_FOUND");
    expect(await refusal(() => store.attach("t1", { namespace: "n" }))).toBe("NOT_FOUND");
    expect((await store.attach("t", { namespace: "n" })).namespace).toBe("n");
  },
  "attaches to a second handle that sees the same state": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("k", bytes("v"));
    const second = await store.attach("t");
    expect(text(await second.get("k"))).toBe("v");
    await second.put("k", bytes("w"));
    expect(text(await tx.get("k"))).toBe("w");
  },
  "lists open transactions by length and bytes of id, in pages": async ({ store, expect }) => {
    const ids = ["b", "a", "ab", "a/", "é", "Z"];
    for (const id of ids) await store.begin(id, { payload: bytes(id) });
    const sorted = ["Z", "a", "b", "a/", "ab", "é"];
    const seen = [];
    let after: { id: string; namespace: string } | undefined;
    for (let round = 0; round < 20; round += 1) {
      const page = await store.openTransactions({ limit: 4, ...(after && { after }) });
      seen.push(...page);
      after = page.at(-1);
      if (after === undefined) break;
    }
    expect(seen.map(({ id }) => id)).toEqual(sorted);
    expect(seen.map(({ header }) => text(header.payload))).toEqual(sorted);
  },
  "lists open transactions of all namespaces once, by namespace, then id": async ({
    store,
    expect,
  }) => {
    for (const namespace of ["ab", "b", ""]) {
      for (const id of ["t1", "u"]) await store.begin(id, { namespace });
    }
    const seen: string[] = [];
    let after: { id: string; namespace: string } | undefined;
    for (let round = 0; round < 20; round += 1) {
      const [row] = await store.openTransactions({ limit: 1, ...(after && { after }) });
      if (row === undefined) break;
      seen.push(`${row.namespace}:${row.id}`);
      after = row;
    }
    expect(seen).toEqual([":u", ":t1", "b:u", "b:t1", "ab:u", "ab:t1"]);
  },
  "claims what is open, its own again too, and finds nothing else": async (world) => {
    const { store, expect } = world;
    const tx = await store.begin("t");
    await store.begin("n", { namespace: "other" });
    expect(await store.claim("t")).toBe(true);
    expect(await store.claim("t", { takeOver: true })).toBe(true);
    expect(await store.claim("n", { namespace: "other" })).toBe(true);
    expect(await refusal(() => store.claim("n"))).toBe("NOT_FOUND");
    await store.reopen();
    expect(await store.claim("t")).toBe(true);
    await (await store.attach("t")).commit();
    expect(await refusal(() => tx.get("k"))).toBe("STALE_OWNER");
    expect(await refusal(() => store.claim("t"))).toBe("NOT_FOUND");
    const after = await world.restart();
    expect(await after.claim("n", { namespace: "other" })).toBe(true);
  },
  "locks a name for one holder until it is freed": async ({ store, expect }) => {
    const free = await store.tryLock("a");
    expect(free === null).toBe(false);
    expect(await store.tryLock("a")).toBe(null);
    expect((await store.tryLock("b")) === null).toBe(false);
    free?.();
    const second = await store.tryLock("a");
    expect(second === null).toBe(false);
    free?.();
    expect(await store.tryLock("a")).toBe(null);
    await store.reopen();
    const third = await store.tryLock("a");
    expect(third === null).toBe(false);
    second?.();
    expect(await store.tryLock("a")).toBe(null);
    await store.close();
    third?.();
    expect(await refusal(() => store.tryLock("a"))).toBe("STORE_CLOSED");
  },
  "keeps an open transaction with all it wrote over a restart": async (world) => {
    const { store, expect, restart } = world;
    await publish(store, { committed: "1" });
    const tx = await store.begin("t");
    await tx.put("k", bytes("v"));
    await tx.delete("committed");
    const opened = await restart();
    expect((await opened.openTransactions()).map(({ id }) => id)).toEqual(["t"]);
    const again = await opened.attach("t");
    expect(shown(await again.scan())).toEqual(["k=v"]);
    expect(text(await opened.get("committed"))).toBe("1");
    expect((await again.commit()).keysPublished).toBe(2);
  },
  "opens an empty store without a warning": async ({ store, expect, restart }) => {
    expect(store.warnings).toEqual([]);
    expect((await restart()).warnings).toEqual([]);
  },
  "grows its incarnation with every open": async ({ store, expect, restart }) => {
    const before = store.incarnation;
    const opened = await restart();
    expect(opened.incarnation > before).toBe(true);
    const tx = await opened.begin("t");
    expect(tx.header().incarnation).toBe(opened.incarnation);
  },
  "refuses a handle of before the reopen and changes nothing by it": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("k", bytes("v"));
    await store.reopen();
    const calls = [
      () => tx.get("k"),
      () => tx.scan(),
      () => tx.put("k", bytes("late")),
      () => tx.apply({ writes: [{ key: "k", value: bytes("late") }] }),
      () => tx.createSnapshot(5),
      () => tx.restoreSnapshot(0),
      () => tx.commit(),
      () => tx.discard(),
    ];
    const codes = [];
    for (const call of calls) codes.push(await refusal(call));
    expect(codes).toEqual(calls.map(() => "STALE_OWNER"));
    const again = await store.attach("t");
    expect(shown(await again.scan())).toEqual(["k=v"]);
    expect(again.header().snapshot).toBe(1);
  },
  "leaves the transaction open when its handle is disposed": async ({ store, expect }) => {
    {
      await using tx = await store.begin("t");
      await tx.put("k", bytes("v"));
    }
    expect(text(await (await store.attach("t")).get("k"))).toBe("v");
  },
  "reports commits, open transactions and batches": async ({ store, expect }) => {
    const before = await store.stats();
    const version = await publish(store, { k: "v" });
    await store.begin("t");
    const after = await store.stats();
    expect(after.commitVersion).toBe(version);
    expect(after.openTransactions).toBe(1);
    expect(after.batches > before.batches).toBe(true);
    expect(after.poisoned).toBe(null);
  },
  "closes as often as it is asked to": async ({ store, expect }) => {
    await store.close();
    await store.close();
    await store[Symbol.asyncDispose]();
    expect(await refusal(() => store.get("k"))).toBe("STORE_CLOSED");
  },
  "refuses every use after close": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await store.close();
    const calls = [
      () => store.begin("u"),
      () => store.attach("t"),
      () => store.claim("t"),
      () => store.fork("t", 0, "u"),
      () => store.openTransactions(),
      () => store.get("k"),
      () => store.getVersioned("k"),
      () => store.scan(),
      () => store.readRecord("t", { space: "terminal" }),
      () => store.scanRecords("effect", { transaction: null }),
      () => store.writeRecords("", { storeAudit: [bytes("x")] }),
      () => store.readAudit(null),
      () => store.stats(),
      () => store.checkpoint("nowhere"),
      () => tx.get("k"),
      () => tx.getMany(["k"]),
      () => tx.scan(),
      () => tx.put("k", bytes("v")),
      () => tx.apply({}),
      () => tx.createSnapshot(2),
      () => tx.restoreSnapshot(0),
      () => tx.commit(),
      () => tx.discard(),
    ];
    const codes = [];
    for (const call of calls) codes.push(await refusal(call));
    expect(codes).toEqual(calls.map(() => "STORE_CLOSED"));
  },
  "finishes what was in flight when close was called": async ({ store, expect, restart }) => {
    const tx = await store.begin("t");
    const writes = Array.from({ length: 20 }, (_, index) => tx.put(`k${index}`, bytes("v")));
    const settled = await Promise.allSettled([...writes, restart()]);
    const opened = settled.at(-1);
    if (opened?.status !== "fulfilled") throw new Error("the store did not come back");
    const again = await (opened.value as typeof store).attach("t");
    const kept = (await again.scan()).length;
    const acknowledged = settled.slice(0, -1).filter(({ status }) => status === "fulfilled").length;
    expect(kept >= acknowledged).toBe(true);
  },
};
