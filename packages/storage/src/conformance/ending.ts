// Owns the claims about commit and discard: what is published, what goes, what stays (S7).

import type { RecordSpace, Store, StoreTransaction } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, fingerprint, publish, refusal, shown, text } from "./harness.js";

const SPACES: readonly RecordSpace[] = [
  "output",
  "saga",
  "effect",
  "outbox",
  "request",
  "terminal",
];

/** One record of each space, two snapshots, some state. */
async function busy(store: Store, id: string): Promise<StoreTransaction> {
  const tx = await store.begin(id, { payload: bytes(`payload of ${id}`) });
  await tx.apply({
    writes: [
      { key: `a of ${id}`, value: bytes("1") },
      { key: `b of ${id}`, value: null },
    ],
    records: SPACES.map((space) => ({ space, step: 1, seq: 1, name: "n", value: bytes(id) })),
    audit: [bytes(`step of ${id}`)],
    snapshot: 2,
  });
  await tx.put(`a of ${id}`, bytes("2"));
  return tx;
}

async function spacesLeft(store: Store, id: string): Promise<string[]> {
  const left = [];
  for (const space of SPACES) {
    const rows = await store.scanRecords(space, { transaction: id });
    if (rows.length > 0) left.push(space);
  }
  return left;
}

export const endingClaims: Claims = {
  "publishes all writes under one version": async ({ store, expect }) => {
    await publish(store, { gone: "v" });
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.put("b", bytes("2"));
    await tx.delete("gone");
    const result = await tx.commit();
    expect(result.keysPublished).toBe(3);
    expect(shown(await store.scan())).toEqual(["a=1", "b=2"]);
    for (const key of ["a", "b"]) {
      expect((await store.getVersioned(key))?.version).toBe(result.commitVersion);
    }
    expect((await store.stats()).commitVersion).toBe(result.commitVersion);
  },
  "publishes the last value only": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.put("a", bytes("1"));
    await tx.createSnapshot(2);
    await tx.put("a", bytes("2"));
    await tx.put("b", bytes("made"));
    await tx.delete("b");
    await tx.commit();
    expect(shown(await store.scan())).toEqual(["a=2"]);
  },
  "commits nothing without complaint": async ({ store, expect }) => {
    const tx = await store.begin("t");
    expect((await tx.commit()).keysPublished).toBe(0);
    expect(await store.openTransactions()).toEqual([]);
  },
  "removes outputs, undo actions and the open record by a commit, keeps the rest": async (
    world,
  ) => {
    const { store, expect } = world;
    const tx = await busy(store, "t");
    await tx.commit({
      records: [{ space: "terminal", value: bytes("COMMITTED") }],
      audit: [bytes("committed")],
      storeAudit: [bytes("t committed")],
    });
    expect(await spacesLeft(store, "t")).toEqual(["effect", "outbox", "request", "terminal"]);
    expect(text(await store.readRecord("t", { space: "terminal" }))).toBe("COMMITTED");
    const audit = (await store.readAudit("t")).map((row) => text(row.payload));
    expect(audit).toEqual(["step of t", "committed"]);
    expect((await store.readAudit(null)).map((row) => text(row.payload))).toEqual(["t committed"]);
    expect(await store.openTransactions()).toEqual([]);
    expect(await refusal(() => store.attach("t"))).toBe("NOT_FOUND");
  },
  "stores the version of the commit with the records that ask for it": async (world) => {
    const { store, expect } = world;
    const stampOf = (record: Uint8Array | null) => {
      const bytes = Buffer.from(record ?? []);
      return [bytes.readBigUInt64BE(0), text(bytes.subarray(8))];
    };
    for (const id of ["t", "u"]) {
      const tx = await busy(store, id);
      const { commitVersion } = await tx.commit({
        records: [{ space: "request", name: "n", value: bytes("plain") }],
        stamped: [
          { space: "terminal", value: bytes("COMMITTED") },
          { space: "outbox", seq: 7, value: bytes("") },
        ],
      });
      const terminal = await store.readRecord(id, { space: "terminal" });
      expect(stampOf(terminal)).toEqual([commitVersion, "COMMITTED"]);
      const sent = await store.readRecord(id, { space: "outbox", seq: 7 });
      expect(stampOf(sent)).toEqual([commitVersion, ""]);
      const request = await store.readRecord(id, { space: "request", name: "n" });
      expect(text(request)).toBe("plain");
    }
  },
  "changes nothing when a record to be stamped is no record": async ({ store, expect }) => {
    const tx = await busy(store, "t");
    const before = await fingerprint(store, tx);
    const stamped = [{ space: "terminal", value: null as unknown as Uint8Array }] as const;
    expect(await refusal(() => tx.commit({ stamped }))).toBe("INVALID_ARGUMENT");
    expect(await fingerprint(store, tx)).toBe(before);
  },
  "removes outputs and the open record by a discard, keeps undo actions too": async (world) => {
    const { store, expect } = world;
    const tx = await busy(store, "t");
    await tx.discard({
      records: [{ space: "terminal", value: bytes("FAILED") }],
      audit: [bytes("discarded")],
      storeAudit: [bytes("t discarded")],
    });
    const left = await spacesLeft(store, "t");
    expect(left).toEqual(["saga", "effect", "outbox", "request", "terminal"]);
    expect(text(await store.readRecord("t", { space: "terminal" }))).toBe("FAILED");
    const audit = (await store.readAudit("t")).map((row) => text(row.payload));
    expect(audit).toEqual(["step of t", "discarded"]);
    expect((await store.readAudit(null)).length).toBe(1);
    expect(await store.scan()).toEqual([]);
    expect(await store.openTransactions()).toEqual([]);
  },
  "leaves neighbouring transactions byte for byte as they were": async ({ store, expect }) => {
    const neighbours = [];
    for (const id of ["t1", "t-1", "t|1", "t/", "s"]) neighbours.push(await busy(store, id));
    const before = [];
    for (const tx of neighbours) before.push(await fingerprint(store, tx));
    await (await busy(store, "t")).discard();
    const after = [];
    for (const tx of neighbours) after.push(await fingerprint(store, tx));
    expect(after).toEqual(before);
    await (await busy(store, "t2")).commit();
    for (const tx of neighbours) {
      expect((await tx.restoreSnapshot(2)).writesReverted).toBe(1);
      expect(text(await tx.get(`a of ${tx.id}`))).toBe("1");
    }
  },
  "refuses the id of a transaction that has ended, also after a restart": async (world) => {
    const { expect, restart } = world;
    let { store } = world;
    await store.begin("open");
    for (const end of ["commit", "discard"] as const) await (await store.begin(end))[end]();
    for (const round of ["before", "after"]) {
      for (const id of ["commit", "discard"]) {
        expect(await refusal(() => store.begin(id))).toBe("TRANSACTION_EXISTS");
        expect(await refusal(() => store.fork("open", 1, id))).toBe("TRANSACTION_EXISTS");
        await store.begin(id, { namespace: round });
      }
      store = await restart();
    }
  },
  "refuses every call of a handle whose transaction has ended": async ({ store, expect }) => {
    for (const end of ["commit", "discard"] as const) {
      const tx = await store.begin(end);
      await tx[end]();
      const calls = [
        () => tx.get("k"),
        () => tx.getMany(["k"]),
        () => tx.scan(),
        () => tx.put("k", bytes("v")),
        () => tx.delete("k"),
        () => tx.write([{ key: "k", value: bytes("v") }]),
        () => tx.createSnapshot(9),
        () => tx.restoreSnapshot(1),
        () => tx.apply({}),
        () => tx.commit(),
        () => tx.discard(),
      ];
      const codes = [];
      for (const call of calls) codes.push(await refusal(call));
      expect(codes).toEqual(calls.map(() => "TRANSACTION_ENDED"));
    }
    expect(await store.scan()).toEqual([]);
  },
  "keeps what was committed over a restart": async ({ store, expect, restart }) => {
    await (await busy(store, "t")).commit({ records: [{ space: "terminal", value: bytes("C") }] });
    await (await busy(store, "u")).discard({ records: [{ space: "terminal", value: bytes("D") }] });
    const opened = await restart();
    expect(shown(await opened.scan())).toEqual(["a of t=2"]);
    expect(text(await opened.readRecord("t", { space: "terminal" }))).toBe("C");
    expect(text(await opened.readRecord("u", { space: "terminal" }))).toBe("D");
    expect(await opened.openTransactions()).toEqual([]);
  },
};
