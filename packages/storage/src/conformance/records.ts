// Owns the claims about records beside the state: each space, order, pages.

import type { RecordEntry, RecordKey } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, publish, refusal, text } from "./harness.js";

/** Two records of each space that must not be one another's. */
const PAIRS: readonly (readonly [RecordKey, RecordKey])[] = [
  [
    { space: "output", step: 1 },
    { space: "output", step: 256 },
  ],
  [
    { space: "saga", step: 1, seq: 2 },
    { space: "saga", step: 2, seq: 1 },
  ],
  [
    { space: "effect", seq: 1 },
    { space: "effect", seq: 2 ** 53 - 1 },
  ],
  [
    { space: "outbox", seq: 1 },
    { space: "outbox", seq: 2 },
  ],
  [
    { space: "request", name: "a" },
    { space: "request", name: "a/b\u0000" },
  ],
];

function show(rows: readonly RecordEntry[]): string[] {
  return rows.map((row) => `${row.transaction}:${row.step}:${row.seq}:${row.name}`);
}

export const recordClaims: Claims = {
  "keeps records of each space apart and byte for byte": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({
      records: PAIRS.flat().map((key, index) => ({ ...key, value: bytes(`r${index}`) })),
    });
    for (const [index, key] of PAIRS.flat().entries()) {
      expect(text(await store.readRecord("t", key))).toBe(`r${index}`);
      expect(await store.readRecord("t1", key)).toBe(null);
      expect(await store.readRecord("t", { ...key, namespace: "n" })).toBe(null);
    }
  },
  "writes, replaces and removes a record": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const key = { space: "saga", step: 1, seq: 1 } as const;
    const values = ["one", "two", null];
    for (const value of values) {
      await tx.apply({ records: [{ ...key, value: value === null ? null : bytes(value) }] });
      expect(text(await store.readRecord("t", key))).toBe(value);
    }
  },
  "orders saga records by step, then by number": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const keys = [
      [2, 1],
      [1, 300],
      [1, 2],
      [256, 1],
      [10, 1],
    ] as const;
    await tx.apply({
      records: keys.map(([step, seq]) => ({ space: "saga", step, seq, value: bytes("u") })),
    });
    const rows = await store.scanRecords("saga", { transaction: "t" });
    expect(show(rows)).toEqual(["t:1:2:", "t:1:300:", "t:2:1:", "t:10:1:", "t:256:1:"]);
    const later = await store.scanRecords("saga", { transaction: "t", fromStep: 3 });
    expect(show(later)).toEqual(["t:10:1:", "t:256:1:"]);
  },
  "pages through the records of one transaction": async ({ store, expect }) => {
    const tx = await store.begin("t");
    const neighbour = await store.begin("t1");
    await neighbour.apply({ records: [{ space: "effect", seq: 1, value: bytes("n") }] });
    const seqs = [1, 2, 255, 256, 65_536];
    await tx.apply({ records: seqs.map((seq) => ({ space: "effect", seq, value: bytes("e") })) });
    const seen: number[] = [];
    let after: RecordEntry | undefined;
    for (let round = 0; round < 20; round += 1) {
      const range = { transaction: "t", limit: 2, ...(after === undefined ? {} : { after }) };
      const page = await store.scanRecords("effect", range);
      seen.push(...page.map(({ seq }) => seq));
      after = page.at(-1);
      if (after === undefined) break;
      expect(page.length <= 2).toBe(true);
    }
    expect(seen).toEqual(seqs);
  },
  "pages through the records of all transactions by length and bytes of id": async ({
    store,
    expect,
  }) => {
    const ids = ["t", "t1", "t-1", "t|1", "u"];
    for (const id of ids) {
      const tx = await store.begin(id);
      await tx.apply({
        records: [1, 2].map((seq) => ({ space: "outbox", seq, value: bytes(id) })),
      });
    }
    const other = await store.begin("t", { namespace: "n" });
    await other.apply({ records: [{ space: "outbox", seq: 1, value: bytes("n") }] });
    const seen: RecordEntry[] = [];
    let after: RecordEntry | undefined;
    for (let round = 0; round < 20; round += 1) {
      const range = { transaction: null, limit: 3, ...(after === undefined ? {} : { after }) };
      const page = await store.scanRecords("outbox", range);
      seen.push(...page);
      after = page.at(-1);
      if (after === undefined) break;
    }
    const sorted = ["t", "u", "t1", "t-1", "t|1"];
    expect(show(seen)).toEqual(sorted.flatMap((id) => [`${id}:0:1:`, `${id}:0:2:`]));
    expect(seen.every((row) => text(row.value) === row.transaction)).toBe(true);
  },
  "refuses to list the outputs of all transactions at once": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ records: [{ space: "output", step: 1, value: bytes("o") }] });
    const list = () => store.scanRecords("output", { transaction: null });
    expect(await refusal(list)).toBe("INVALID_ARGUMENT");
    expect((await store.scanRecords("output", { transaction: "t" })).length).toBe(1);
  },
  "names a record by the fields of its space and by no others": async ({ store, expect }) => {
    const tx = await store.begin("t");
    for (const key of PAIRS.flat()) {
      await tx.apply({ records: [{ step: 7, seq: 7, name: "7", ...key, value: bytes("r") }] });
      const asked = { step: 8, seq: 8, name: "8", ...key };
      expect(text(await store.readRecord("t", asked))).toBe("r");
    }
    const effects = await store.scanRecords("effect", { transaction: "t" });
    expect(show(effects)).toEqual(["t:0:1:", `t:0:${2 ** 53 - 1}:`]);
    const requests = await store.scanRecords("request", { transaction: "t" });
    expect(show(requests)).toEqual(["t:0:0:a", "t:0:0:a/b\u0000"]);
  },
  "keeps meta records outside of any transaction": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.apply({ records: [{ space: "meta", name: "workflow/1", value: bytes("in step") }] });
    await store.writeRecords("", {
      records: [{ space: "meta", name: "workflow/2", value: bytes("alone") }],
    });
    const rows = await store.scanRecords("meta", { transaction: null });
    expect(rows.map((row) => [row.transaction, row.name, text(row.value)])).toEqual([
      ["", "workflow/1", "in step"],
      ["", "workflow/2", "alone"],
    ]);
    await tx.discard();
    const key = { space: "meta", name: "workflow/1" } as const;
    expect(text(await store.readRecord("", key))).toBe("in step");
  },
  "writes records of a transaction that has ended": async ({ store, expect }) => {
    const tx = await store.begin("t");
    await tx.commit({ records: [{ space: "effect", seq: 1, value: bytes("confirmed") }] });
    await store.writeRecords("t", {
      records: [{ space: "effect", seq: 1, value: bytes("compensated") }],
      audit: [bytes("undone")],
      storeAudit: [bytes("noted")],
    });
    expect(text(await store.readRecord("t", { space: "effect", seq: 1 }))).toBe("compensated");
    expect((await store.readAudit("t")).map((row) => text(row.payload))).toEqual(["undone"]);
    expect((await store.readAudit(null)).map((row) => text(row.payload))).toEqual(["noted"]);
  },
  "refuses audit entries of a transaction that never was, or of none": async (world) => {
    const { store, expect } = world;
    const record = { space: "meta", name: "m", value: bytes("v") } as const;
    const write = (id: string) =>
      store.writeRecords(id, { records: [record], audit: [bytes("a")] });
    expect(await refusal(() => write("never"))).toBe("NOT_FOUND");
    expect(await refusal(() => write(""))).toBe("INVALID_ARGUMENT");
    expect(await store.readRecord("", record)).toBe(null);
    expect(await store.readAudit("never")).toEqual([]);
    await store.writeRecords("never", {
      records: [{ space: "effect", seq: 1, value: bytes("e") }],
    });
  },
  "refuses unfenced records of an open transaction": async ({ store, expect }) => {
    await store.begin("t");
    const write = () =>
      store.writeRecords("t", { records: [{ space: "effect", seq: 1, value: bytes("e") }] });
    expect(await refusal(write)).toBe("INVALID_ARGUMENT");
    expect(await store.readRecord("t", { space: "effect", seq: 1 })).toBe(null);
  },
  "never shows records as state": async ({ store, expect }) => {
    await publish(store, { k: "v" });
    const tx = await store.begin("t");
    await tx.apply({
      records: PAIRS.flat().map((key) => ({ ...key, value: bytes("r") })),
      audit: [bytes("a")],
      payload: bytes("p"),
    });
    expect((await tx.scan()).length).toBe(1);
    await tx.commit();
    expect((await store.scan()).length).toBe(1);
  },
  "keeps records over a restart": async ({ store, expect, restart }) => {
    const tx = await store.begin("t", {
      payload: bytes("header"),
      records: [{ space: "request", name: "r", value: bytes("answer") }],
    });
    await tx.apply({ records: [{ space: "output", step: 1, value: bytes("out") }] });
    const opened = await restart();
    expect(text(await opened.readRecord("t", { space: "request", name: "r" }))).toBe("answer");
    expect(text(await opened.readRecord("t", { space: "output", step: 1 }))).toBe("out");
    expect(text((await opened.attach("t")).header().payload)).toBe("header");
  },
};
