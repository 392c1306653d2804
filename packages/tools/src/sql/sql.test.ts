// Goal: sql tools change what can be undone and nothing else, undo it exactly, and say what they
// refuse. Method: a real database for each claim, a second connection as somebody else.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue, UndoResult } from "@agenttx/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, toolContext, undoContext } from "../testing/context.js";
import { openDatabase } from "../testing/sqlite.js";
import type { SqlConnection } from "./driver.js";
import { type SqlOptions, sqlTools } from "./tools.js";

let directory = "";
let path = "";
let others: SqlConnection;
let tools: ReturnType<typeof sqlTools>;
const opened: { close(): void }[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "agenttx-sql-"));
  path = join(directory, "shop.db");
  others = openDatabase(path);
  others.pragma("journal_mode = WAL");
  others.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT UNIQUE, total)");
  tools = make({ path });
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
  others.close();
  rmSync(directory, { recursive: true, force: true });
});

function make(options: SqlOptions) {
  const made = sqlTools(options);
  opened.push(made);
  return made;
}

const rows = (sql = "SELECT * FROM orders ORDER BY 1"): unknown[] => others.prepare(sql).all();

async function exec(sql: string, params?: JsonValue, key = "key-1"): Promise<JsonValue> {
  const args = params === undefined ? { sql } : { sql, params };
  return call(tools[0], args, toolContext({ key }));
}

async function undo(key = "key-1"): Promise<UndoResult> {
  const args = { sql: "", params: undefined };
  const result = await tools[0].compensate?.({ args, output: null }, undoContext(key));
  return result ?? { status: "undone" };
}

const lookup = (key = "key-1") =>
  tools[0].lookup?.(
    { args: { sql: "", params: undefined }, idempotencyKey: key },
    undoContext(key),
  );

const query = (sql: string, params?: JsonValue): Promise<JsonValue> =>
  call(tools[1], params === undefined ? { sql } : { sql, params }, toolContext());

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "went through",
    (error: unknown) => {
      expect(error).toMatchObject({ name: "DefiniteFailure", definite: true });
      return error instanceof Error ? error.message : "";
    },
  );
}

describe("sql.exec", () => {
  it("answers what it changed, and the rows of RETURNING", async () => {
    expect(await exec("INSERT INTO orders (item) VALUES ('cup'), ('pot')")).toEqual({
      changes: 2,
      lastInsertRowid: 2,
      rows: [],
    });
    const sql = "UPDATE orders SET total = :t WHERE id = :id RETURNING id, total";
    expect(await exec(sql, { t: 1.5, id: 2 }, "k2")).toEqual({
      changes: 1,
      lastInsertRowid: null,
      rows: [{ id: 2, total: 1.5 }],
    });
    expect(await exec("DELETE FROM orders", undefined, "k3")).toMatchObject({ changes: 2 });
  });

  it("binds values of every type, whole numbers as integers", async () => {
    const params = [
      1,
      { integer: "9007199254740993" },
      { base64: "AP8=" },
      null,
      true,
      2.5,
      "'; DROP TABLE orders; --",
    ];
    others.exec("CREATE TABLE kinds (id INTEGER PRIMARY KEY, a, b, c, d, e, f)");
    await exec("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?)", params);
    expect(rows("SELECT typeof(a), typeof(b), typeof(d), typeof(e), f FROM kinds")).toEqual([
      {
        "typeof(a)": "integer",
        "typeof(b)": "blob",
        "typeof(d)": "integer",
        "typeof(e)": "real",
        f: "'; DROP TABLE orders; --",
      },
    ]);
    expect(await query("SELECT a, b, c, e FROM kinds")).toEqual({
      rows: [{ a: "9007199254740993", b: { base64: "AP8=" }, c: null, e: 2.5 }],
      truncated: false,
    });
  });

  it("answers a repeated key with the first output, and changes nothing again", async () => {
    const first = await exec("INSERT INTO orders (item) VALUES (?)", ["cup"]);
    expect(await exec("INSERT INTO orders (item) VALUES (?)", ["cup"])).toEqual(first);
    expect(rows()).toHaveLength(1);
    const other = exec("INSERT INTO orders (item) VALUES (?)", ["pot"]);
    expect(await refusalOf(other)).toContain("another statement");
  });

  it("does not count a key as used by a statement that failed", async () => {
    await exec("INSERT INTO orders (item) VALUES ('cup')", undefined, "a");
    const clash = exec("INSERT INTO orders (item) VALUES ('cup')");
    expect(await refusalOf(clash)).toBe("UNIQUE constraint failed: orders.item");
    await exec("INSERT INTO orders (item) VALUES ('pot')");
    expect(rows()).toHaveLength(2);
  });

  it("changes nothing for a key that was cancelled before it arrived", async () => {
    expect(await undo()).toEqual({ status: "already-undone" });
    const late = exec("INSERT INTO orders (item) VALUES ('late')");
    expect(await refusalOf(late)).toContain("cancelled");
    expect(rows()).toEqual([]);
  });

  it("tells of a change whose answer was lost, also to another process", async () => {
    const output = await exec("INSERT INTO orders (item) VALUES ('cup')");
    tools = make({ path });
    expect(await lookup()).toEqual({ status: "landed", output });
    expect(await lookup("never")).toEqual({ status: "absent", final: true });
  });

  it("writes marker and change in one transaction", async () => {
    others.exec("BEGIN IMMEDIATE");
    const writing = exec("INSERT INTO orders (item) VALUES ('cup')");
    await new Promise((resolve) => setImmediate(resolve));
    others.exec("COMMIT");
    await writing;
    const marker = "SELECT idempotency_key AS key, state FROM agenttx_effects";
    expect(rows(marker)).toEqual([{ key: "key-1", state: "done" }]);
    await undo();
    expect(rows(marker)).toEqual([{ key: "key-1", state: "undone" }]);
  });
});

describe("sql.exec refuses, with nothing changed,", () => {
  const refused: readonly (readonly [string, string, string])[] = [
    ["two statements", "DELETE FROM orders; DELETE FROM orders", "more than one statement"],
    ["DDL", "CREATE TABLE x (id)", "CREATE is not undone"],
    ["DDL behind a comment", "/* DELETE */ -- x\n DROP TABLE orders", "DROP is not undone"],
    ["ATTACH", "ATTACH ':memory:' AS x", "ATTACH is not undone"],
    ["PRAGMA", "PRAGMA foreign_keys = OFF", "PRAGMA is not undone"],
    ["transaction control", "COMMIT", "COMMIT is not undone"],
    ["VACUUM", "VACUUM INTO '/tmp/x'", "VACUUM is not undone"],
    ["a query", "SELECT * FROM orders", "use sql.query"],
    ["a query in disguise", "WITH q AS (SELECT 1) SELECT * FROM q", "use sql.query"],
    ["system tables", "DELETE FROM sqlite_sequence", "sqlite_"],
    ["its own table", "UPDATE AgentTx_effects SET state = 'done'", "agenttx_"],
    ["a table without a primary key", "INSERT INTO bare VALUES (1)", "no primary key"],
    ["a table with triggers", "INSERT INTO watched VALUES (1)", "has triggers"],
    ["a virtual table", "INSERT INTO search VALUES ('x')", "virtual table"],
    [
      "a table of the search index",
      "INSERT INTO search_content VALUES (9, 'x')",
      "may not be modified",
    ],
    ["NULL in a primary key", "INSERT INTO named VALUES (NULL)", "NOT NULL constraint failed"],
    ["too few values", "INSERT INTO orders (item) VALUES (?)", "Too few parameter values"],
    ["a table that is not there", "INSERT INTO nowhere VALUES (1)", "no such table"],
  ];
  for (const [title, sql, why] of refused) {
    it(title, async () => {
      others.exec(`
        CREATE TABLE bare (id);
        CREATE TABLE named (name TEXT PRIMARY KEY);
        CREATE TABLE watched (id INTEGER PRIMARY KEY);
        CREATE TABLE log (id INTEGER PRIMARY KEY);
        CREATE TRIGGER watch AFTER INSERT ON watched BEGIN INSERT INTO log VALUES (NEW.id); END;
        CREATE VIRTUAL TABLE search USING fts5(text);
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)`);
      expect(await refusalOf(exec(sql))).toContain(why);
      expect(rows("SELECT * FROM agenttx_effects")).toEqual([]);
      for (const table of ["bare", "named", "watched", "log", "search"]) {
        expect(rows(`SELECT * FROM ${table}`), table).toEqual([]);
      }
    });
  }

  it("tables that are not listed, also when a foreign key reaches them", async () => {
    others.exec(`
      CREATE TABLE lines (id INTEGER PRIMARY KEY, o REFERENCES orders (id) ON DELETE CASCADE);
      INSERT INTO orders VALUES (1, 'cup', 1); INSERT INTO lines VALUES (1, 1)`);
    tools = make({ path, tables: ["Orders"] });
    expect(await refusalOf(exec("DELETE FROM lines"))).toContain("not among the tables");
    expect(await refusalOf(exec("DELETE FROM orders"))).toContain("not among the tables");
    await exec("UPDATE orders SET total = 2");
    expect(rows("SELECT * FROM lines")).toHaveLength(1);
  });

  it("more rows or bytes than the limits", async () => {
    tools = make({ path, rowsMax: 2, bytesMax: 100 });
    const three = exec("INSERT INTO orders (total) VALUES (1), (2), (3)");
    expect(await refusalOf(three)).toContain("more than 2 rows");
    const large = exec("INSERT INTO orders (item) VALUES (?)", ["x".repeat(101)]);
    expect(await refusalOf(large)).toContain("larger than 100 bytes");
    expect(rows()).toEqual([]);
  });

  it("a database that stays locked, retryable, without blocking meanwhile", async () => {
    tools = make({ path, busyTimeoutMs: 40 });
    others.exec("BEGIN IMMEDIATE");
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    const locked = exec("INSERT INTO orders (item) VALUES ('cup')");
    await expect(locked).rejects.toMatchObject({ code: "SQLITE_BUSY", definite: true });
    clearInterval(counting);
    expect(turns).toBeGreaterThan(3);
    others.exec("COMMIT");
  });

  it("a call whose signal is aborted", async () => {
    const signal = AbortSignal.abort(new Error("deadline"));
    const attempt = call(tools[0], { sql: "DELETE FROM orders" }, toolContext({ signal }));
    await expect(attempt).rejects.toThrow("deadline");
  });
});

describe("undo of sql.exec", () => {
  it("puts back every type, exactly", async () => {
    others.exec(`
      CREATE TABLE kinds (id INTEGER PRIMARY KEY, a, g AS (a || '!') STORED);
      INSERT INTO kinds (a) VALUES (9007199254740993), (2.0), (-0.0), (9e999), ('x' || char(0)),
        (x'00ff'), (NULL), ('2')`);
    const sql = "SELECT id, quote(a) AS a, typeof(a) AS t, g FROM kinds ORDER BY id";
    const before = rows(sql);
    await exec("UPDATE kinds SET a = 'changed'");
    expect(rows(sql)).not.toEqual(before);
    expect(await undo()).toEqual({ status: "undone" });
    expect(rows(sql)).toEqual(before);
  });

  it("gives swapped unique values and changed keys back", async () => {
    others.exec("INSERT INTO orders VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0)");
    const before = rows();
    await exec("UPDATE orders SET id = -id", undefined, "k1");
    await exec("UPDATE orders SET id = -id + 10", undefined, "k2");
    await exec(
      "INSERT INTO orders VALUES (11, 'b', 5), (12, 'x', 6), (13, 'y', 1) ON CONFLICT (id) DO UPDATE SET item = excluded.item || '2'",
      undefined,
      "k3",
    );
    await exec("REPLACE INTO orders VALUES (99, 'b2', 1)", undefined, "k4");
    for (const key of ["k4", "k3", "k2", "k1"]) {
      expect(await undo(key), key).toEqual({ status: "undone" });
    }
    expect(rows()).toEqual(before);
  });

  it("gives rows back that swapped a unique value", async () => {
    others.exec("CREATE TABLE seats (id INTEGER PRIMARY KEY, seat UNIQUE)");
    others.exec("INSERT INTO seats VALUES (1, 'a'), (2, 'b')");
    await exec("REPLACE INTO seats SELECT 3 - id, seat FROM seats ORDER BY id");
    const changed = rows("SELECT * FROM seats");
    expect(changed).not.toEqual([
      { id: 1, seat: "a" },
      { id: 2, seat: "b" },
    ]);
    expect(await undo()).toEqual({ status: "undone" });
    expect(rows("SELECT * FROM seats")).toEqual([
      { id: 1, seat: "a" },
      { id: 2, seat: "b" },
    ]);
  });

  it("gives back what foreign keys changed with it", async () => {
    others.exec(`
      CREATE TABLE lines (
        id INTEGER PRIMARY KEY, o REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE);
      INSERT INTO orders VALUES (1, 'cup', 1); INSERT INTO lines VALUES (1, 1), (2, 1)`);
    const all = (): unknown[] => [rows(), rows("SELECT * FROM lines")];
    const before = all();
    await exec("UPDATE orders SET id = 7", undefined, "k1");
    await exec("DELETE FROM orders", undefined, "k2");
    expect(all()).toEqual([[], []]);
    expect(await undo("k2")).toEqual({ status: "undone" });
    expect(await undo("k1")).toEqual({ status: "undone" });
    expect(all()).toEqual(before);
  });

  it("is dirty when rows of others came to depend on it, and touches nothing", async () => {
    for (const action of ["CASCADE", "SET NULL", "NO ACTION", "RESTRICT"]) {
      others.exec(`
        DROP TABLE IF EXISTS lines;
        DELETE FROM orders;
        CREATE TABLE lines (id INTEGER PRIMARY KEY, o REFERENCES orders (id) ON DELETE ${action})`);
      await exec("INSERT INTO orders VALUES (1, 'cup', 1)", undefined, action);
      others.exec("INSERT INTO lines VALUES (1, 1)");
      expect(await undo(action), action).toMatchObject({ status: "dirty" });
      expect(rows("SELECT * FROM lines"), action).toEqual([{ id: 1, o: 1 }]);
      expect(rows(), action).toHaveLength(1);
    }
  });

  it("is dirty with both versions when one of the rows changed; the others stay too", async () => {
    await exec("INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2)");
    others.exec("UPDATE orders SET total = 3 WHERE id = 2");
    expect(await undo()).toEqual({
      status: "dirty",
      expected: 'orders {"id":2,"item":"b","total":2}',
      found: 'orders {"id":2,"item":"b","total":3}',
    });
    expect(rows()).toHaveLength(2);
    others.exec("UPDATE orders SET total = 2 WHERE id = 2");
    expect(await undo()).toEqual({ status: "undone" });
  });

  it("is dirty when a new unique value stands in the way", async () => {
    others.exec("INSERT INTO orders VALUES (1, 'a', 1)");
    await exec("DELETE FROM orders");
    others.exec("INSERT INTO orders VALUES (2, 'a', 1)");
    expect(await undo()).toMatchObject({ status: "dirty", found: expect.stringMatching(/UNIQUE/) });
  });

  it("is dirty when the table has other columns, has triggers, or is gone", async () => {
    await exec("INSERT INTO orders VALUES (1, 'a', 1)");
    others.exec("ALTER TABLE orders ADD COLUMN note");
    expect(await undo()).toMatchObject({
      status: "dirty",
      found: expect.stringContaining("columns"),
    });
    others.exec("ALTER TABLE orders DROP COLUMN note");
    others.exec("CREATE TRIGGER t AFTER DELETE ON orders BEGIN SELECT 1; END");
    expect(await undo()).toMatchObject({
      status: "dirty",
      found: expect.stringContaining("triggers"),
    });
    others.exec("DROP TABLE orders");
    expect(await undo()).toMatchObject({
      status: "dirty",
      found: expect.stringContaining("no table"),
    });
  });

  it("takes rows that somebody has put back for undone", async () => {
    await exec("INSERT INTO orders VALUES (1, 'a', 1)");
    others.exec("DELETE FROM orders");
    expect(await undo()).toEqual({ status: "already-undone" });
  });

  it("tells keys apart that a collation takes for equal", async () => {
    others.exec("CREATE TABLE tags (name TEXT PRIMARY KEY COLLATE NOCASE, n)");
    others.exec("INSERT INTO tags VALUES ('Blue', 1)");
    await exec("UPDATE tags SET name = 'BLUE', n = 2");
    expect(await undo()).toEqual({ status: "undone" });
    expect(rows("SELECT * FROM tags")).toEqual([{ name: "Blue", n: 1 }]);
  });

  it("captures rows of tables that were made after the first call", async () => {
    await exec("INSERT INTO orders VALUES (1, 'a', 1)", undefined, "k1");
    others.exec(
      'CREATE TABLE "odd ""name""" ("a b" INTEGER, c TEXT, PRIMARY KEY (c, "a b")) WITHOUT ROWID',
    );
    await exec('INSERT INTO "odd ""name""" VALUES (1, \'x\')', undefined, "k2");
    expect(await undo("k2")).toEqual({ status: "undone" });
    expect(rows('SELECT * FROM "odd ""name"""')).toEqual([]);
  });
});

describe("sql.query", () => {
  it("reads rows up to a limit and says that there are more", async () => {
    await exec("INSERT INTO orders (total) VALUES (1), (2), (3)");
    tools = make({ path, rowsMax: 2 });
    expect(await query("SELECT total FROM orders")).toEqual({
      rows: [{ total: 1 }, { total: 2 }],
      truncated: true,
    });
    expect(await query("SELECT total FROM orders WHERE id = ?", [3])).toEqual({
      rows: [{ total: 3 }],
      truncated: false,
    });
  });

  const refused = [
    ["DELETE FROM orders", "DELETE is not a query"],
    ["PRAGMA journal_mode = DELETE", "PRAGMA is not a query"],
    ["ATTACH ':memory:' AS x", "ATTACH is not a query"],
    ["WITH q AS (SELECT 1) INSERT INTO orders (total) SELECT * FROM q", "writes"],
    ["SELECT 1; SELECT 2", "more than one statement"],
    ["SELECT load_extension('x')", "no such function|not authorized"],
  ] as const;
  for (const [sql, why] of refused) {
    it(`refuses ${sql}`, async () => {
      expect(await refusalOf(query(sql))).toMatch(new RegExp(why));
    });
  }
});

describe("sqlTools", () => {
  it("takes an open database, and opens its own connections to the file", async () => {
    tools = make({ database: others });
    await exec("INSERT INTO orders (item) VALUES ('cup')");
    expect(rows()).toHaveLength(1);
  });

  it("refuses a database in memory, both or none", () => {
    const invalid = expect.objectContaining({ code: "TOOL_INVALID" });
    const memory = openDatabase(path).constructor as new (path: string) => SqlConnection;
    const inMemory = new memory(":memory:");
    expect(() => sqlTools({ database: inMemory })).toThrow(invalid);
    expect(() => sqlTools({ path: ":memory:" })).toThrow(invalid);
    expect(() => sqlTools({})).toThrow(invalid);
    expect(() => sqlTools({ path, database: others })).toThrow(invalid);
  });

  it("does not make a database that is not there", async () => {
    tools = make({ path: join(directory, "missing.db") });
    await expect(exec("DELETE FROM orders")).rejects.toMatchObject({ code: "SQLITE_CANTOPEN" });
  });

  it("sweeps the markers of effects that nobody can undo any more", async () => {
    for (let index = 0; index < 205; index += 1) {
      await exec("INSERT INTO orders (total) VALUES (1)", undefined, `key-${index}`);
    }
    const open = ({ idempotencyKey }: { idempotencyKey: string }) => idempotencyKey === "key-7";
    expect(await tools.sweep(open)).toBe(204);
    expect(rows("SELECT idempotency_key AS key FROM agenttx_effects")).toEqual([{ key: "key-7" }]);
    expect(await undo("key-7")).toEqual({ status: "undone" });
    expect(rows()).toHaveLength(204);
  });
});
