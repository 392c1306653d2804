// Goal: rows keep their constraints, within one transaction and between concurrent ones, and say
// what is wrong in PostgreSQL's words. Method: over the memory store.

import { openMemoryStore } from "@agenttx/storage/memory";
import { describe, expect, it } from "vitest";
import { bufferedState, call, toolContext } from "../testing/context.js";
import { recordTools } from "./tools.js";

const TABLES = {
  customers: {
    primaryKey: "customer_id",
    columns: {
      customer_id: { type: "integer" },
      name: { type: "text", notNull: true },
      email: { type: "text", unique: true },
    },
  },
  orders: {
    primaryKey: "order_id",
    columns: {
      order_id: { type: "text" },
      customer_id: { type: "integer", references: "customers" },
      total: { type: "number" },
      paid: { type: "boolean" },
      lines: { type: "json" },
    },
  },
  people: {
    primaryKey: "id",
    columns: { id: { type: "integer" }, boss: { type: "integer", references: "people" } },
  },
} as const;

const [insert, get, update, remove] = recordTools({ tables: TABLES });
const ADA = { customer_id: 7, name: "Ada", email: "ada@example.com" };

type Store = ReturnType<typeof openMemoryStore>;

/** Runs calls in one transaction; commits when `end` is called. */
async function session(store: Store, id: string) {
  const tx = await store.begin(id);
  const state = bufferedState(tx);
  const context = toolContext({ state });
  const run = (tool: Parameters<typeof call>[0]) => (args: unknown) => call(tool, args, context);
  return {
    insert: run(insert),
    get: run(get),
    update: run(update),
    remove: run(remove),
    commit: async () => {
      await state.flush();
      return tx.commit();
    },
  };
}

async function messageOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "no error",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

async function withAda(): Promise<Store> {
  const store = openMemoryStore();
  const tx = await session(store, "setup");
  await tx.insert({ table: "customers", values: ADA });
  await tx.commit();
  return store;
}

describe("rows", () => {
  it("come back whole, absent columns as null", async () => {
    const tx = await session(await withAda(), "t");
    const values = { order_id: "o-1", customer_id: 7, lines: [{ sku: "a" }] };
    const row = { ...values, total: null, paid: null };
    expect(await tx.insert({ table: "orders", values })).toEqual(row);
    expect(await tx.get({ table: "orders", key: "o-1" })).toEqual({ found: true, row });
    expect(await tx.get({ table: "orders", key: "o-2" })).toEqual({ found: false, row: null });
  });

  it("change and go", async () => {
    const tx = await session(await withAda(), "t");
    const changed = { ...ADA, name: "Lady Lovelace" };
    const args = { table: "customers", key: 7 };
    expect(await tx.update({ ...args, values: { name: "Lady Lovelace" } })).toEqual(changed);
    expect(await tx.remove(args)).toEqual(changed);
    expect(await tx.get(args)).toEqual({ found: false, row: null });
  });

  it("refuse to change or delete what is not there", async () => {
    const tx = await session(openMemoryStore(), "t");
    const args = { table: "customers", key: 9 };
    const text =
      'query returned no rows\nDETAIL:  Key (customer_id)=(9) is not present in table "customers".';
    expect(await messageOf(tx.update({ ...args, values: {} }))).toBe(text);
    expect(await messageOf(tx.remove(args))).toBe(text);
  });

  it("keep their primary key", async () => {
    const tx = await session(await withAda(), "t");
    const change = tx.update({ table: "customers", key: 7, values: { customer_id: 8 } });
    expect(await messageOf(change)).toContain(
      'column "customer_id" can only be updated to DEFAULT',
    );
  });
});

describe("constraint errors", () => {
  const cases: readonly (readonly [string, string, Record<string, unknown>, string])[] = [
    [
      "a missing parent",
      "orders",
      { order_id: "o", customer_id: 90417 },
      'insert or update on table "orders" violates foreign key constraint "orders_customer_id_fkey"\nDETAIL:  Key (customer_id)=(90417) is not present in table "customers".',
    ],
    [
      "a primary key twice",
      "customers",
      { customer_id: 7, name: "Eve" },
      'duplicate key value violates unique constraint "customers_pkey"\nDETAIL:  Key (customer_id)=(7) already exists.',
    ],
    [
      "a unique value twice",
      "customers",
      { customer_id: 8, name: "Eve", email: "ada@example.com" },
      'duplicate key value violates unique constraint "customers_email_key"\nDETAIL:  Key (email)=(ada@example.com) already exists.',
    ],
    [
      "a null where none may be",
      "customers",
      { customer_id: 8, email: "e" },
      'null value in column "name" of relation "customers" violates not-null constraint\nDETAIL:  Failing row contains (8, null, e).',
    ],
    [
      "a missing primary key",
      "orders",
      { total: 1 },
      'null value in column "order_id" of relation "orders" violates not-null constraint\nDETAIL:  Failing row contains (null, null, 1, null, null).',
    ],
    [
      "an unknown column",
      "orders",
      { order_id: "o", quantity: 1 },
      'column "quantity" of relation "orders" does not exist',
    ],
    ["an unknown table", "invoices", {}, 'relation "invoices" does not exist'],
    [
      "a table named like a property of objects",
      "constructor",
      {},
      'relation "constructor" does not exist',
    ],
    [
      "a text for a whole number",
      "orders",
      { order_id: "o", customer_id: "7" },
      'column "customer_id" is of type bigint but expression is of type text\nHINT:  You will need to rewrite or cast the expression.',
    ],
    [
      "a fraction for a whole number",
      "customers",
      { customer_id: 1.5, name: "x" },
      'column "customer_id" is of type bigint but expression is of type numeric\nHINT:  You will need to rewrite or cast the expression.',
    ],
  ];
  for (const [title, table, values, text] of cases) {
    it(`say of ${title} what PostgreSQL says, and write nothing`, async () => {
      const store = await withAda();
      const before = (await store.scan()).length;
      const tx = await session(store, "t");
      expect(await messageOf(tx.insert({ table, values }))).toBe(text);
      await tx.commit();
      expect((await store.scan()).length).toBe(before);
    });
  }

  it("are definite: certainly nothing happened", async () => {
    const tx = await session(openMemoryStore(), "t");
    const insertion = tx.insert({ table: "orders", values: { order_id: "o", customer_id: 1 } });
    await expect(insertion).rejects.toMatchObject({ name: "DefiniteFailure", definite: true });
  });
});

describe("foreign keys", () => {
  it("see a parent inserted before in the same transaction", async () => {
    const tx = await session(openMemoryStore(), "t");
    await tx.insert({ table: "customers", values: ADA });
    await tx.insert({ table: "orders", values: { order_id: "o", customer_id: 7 } });
    await tx.commit();
  });

  it("keep a parent while a child references it, and let it go after", async () => {
    const store = await withAda();
    const tx = await session(store, "t");
    await tx.insert({ table: "orders", values: { order_id: "o", customer_id: 7 } });
    expect(await messageOf(tx.remove({ table: "customers", key: 7 }))).toBe(
      'update or delete on table "customers" violates foreign key constraint "orders_customer_id_fkey" on table "orders"\nDETAIL:  Key (customer_id)=(7) is still referenced from table "orders".',
    );
    await tx.update({ table: "orders", key: "o", values: { customer_id: null } });
    await tx.remove({ table: "customers", key: 7 });
    await tx.commit();
  });

  it("follow a child to another parent", async () => {
    const tx = await session(await withAda(), "t");
    await tx.insert({ table: "customers", values: { customer_id: 8, name: "Bob" } });
    await tx.insert({ table: "orders", values: { order_id: "o", customer_id: 7 } });
    await tx.update({ table: "orders", key: "o", values: { customer_id: 8 } });
    await tx.remove({ table: "customers", key: 7 });
    expect(await messageOf(tx.remove({ table: "customers", key: 8 }))).toContain(
      "still referenced",
    );
  });

  it("let a row reference itself and be deleted", async () => {
    const tx = await session(openMemoryStore(), "t");
    await tx.insert({ table: "people", values: { id: 1, boss: 1 } });
    await tx.remove({ table: "people", key: 1 });
    await tx.commit();
  });

  it("fail the commit of a child whose parent was deleted meanwhile", async () => {
    const store = await withAda();
    const child = await session(store, "child");
    await child.insert({ table: "orders", values: { order_id: "o", customer_id: 7 } });
    const deletion = await session(store, "deletion");
    await deletion.remove({ table: "customers", key: 7 });
    await deletion.commit();
    await expect(child.commit()).rejects.toMatchObject({ code: "WRITE_CONFLICT" });
  });

  it("fail the commit of a deletion that a child came before", async () => {
    const store = await withAda();
    const deletion = await session(store, "deletion");
    await deletion.remove({ table: "customers", key: 7 });
    const child = await session(store, "child");
    await child.insert({ table: "orders", values: { order_id: "o", customer_id: 7 } });
    await child.commit();
    await expect(deletion.commit()).rejects.toMatchObject({ code: "WRITE_CONFLICT" });
  });

  it("let most children of one parent commit side by side", async () => {
    const store = await withAda();
    const sessions = [];
    for (let index = 0; index < 8; index += 1) {
      const child = await session(store, `child-${index}`);
      await child.insert({ table: "orders", values: { order_id: `o-${index}`, customer_id: 7 } });
      sessions.push(child);
    }
    const settled = await Promise.allSettled(sessions.map((child) => child.commit()));
    expect(settled.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(7);
  });
});

describe("unique values", () => {
  it("can be taken again after the row that had them changed or went", async () => {
    const tx = await session(await withAda(), "t");
    await tx.update({ table: "customers", key: 7, values: { email: "new@example.com" } });
    const bob = { customer_id: 8, name: "Bob", email: "ada@example.com" };
    await tx.insert({ table: "customers", values: bob });
    await tx.remove({ table: "customers", key: 8 });
    await tx.insert({ table: "customers", values: { ...bob, customer_id: 9 } });
    await tx.commit();
  });

  it("may be null as often as one likes", async () => {
    const tx = await session(openMemoryStore(), "t");
    for (const id of [1, 2]) {
      await tx.insert({ table: "customers", values: { customer_id: id, name: "x" } });
    }
    await tx.commit();
  });

  it("fail the commit of the second of two transactions that take the same", async () => {
    const store = openMemoryStore();
    const sessions = [await session(store, "a"), await session(store, "b")];
    for (const [index, tx] of sessions.entries()) {
      const values = { customer_id: index, name: "x", email: "same@example.com" };
      await tx.insert({ table: "customers", values });
    }
    await sessions[0]?.commit();
    await expect(sessions[1]?.commit()).rejects.toMatchObject({ code: "WRITE_CONFLICT" });
  });
});

describe("table declarations", () => {
  const wrong = [
    { "Bad Name": { primaryKey: "id", columns: { id: { type: "integer" } } } },
    { t: { primaryKey: "missing", columns: { id: { type: "integer" } } } },
    { t: { primaryKey: "id", columns: { id: { type: "json" } } } },
    {
      t: {
        primaryKey: "id",
        columns: { id: { type: "integer" }, x: { type: "text", references: "u" } },
      },
    },
  ] as const;
  for (const tables of wrong) {
    it(`refuse ${JSON.stringify(tables)}`, () => {
      expect(() => recordTools({ tables })).toThrow(
        expect.objectContaining({ code: "TOOL_INVALID" }),
      );
    });
  }

  it("know no other arguments", async () => {
    const tx = await session(openMemoryStore(), "t");
    expect(await messageOf(tx.get({ table: "t", key: 1, where: "x" }))).toContain("where");
  });
});
