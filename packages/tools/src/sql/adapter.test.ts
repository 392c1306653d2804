// Goal: sql.exec keeps the contract of adapters, for each kind of change. Method: the adapter
// suite on a real database file; somebody else is a second connection.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { adapterConformance } from "../adapter-kit/suite.js";
import type { AdapterCase } from "../adapter-kit/world.js";
import { openDatabase } from "../testing/sqlite.js";
import { sqlTools } from "./tools.js";

const directory = mkdtempSync(join(tmpdir(), "agenttx-sql-kit-"));
const path = join(directory, "shop.db");
const others = openDatabase(path);
others.pragma("journal_mode = WAL");
others.exec(`
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY, item TEXT, total REAL, photo BLOB, version INTEGER DEFAULT 1);
  CREATE TABLE lines (id TEXT PRIMARY KEY, order_id REFERENCES orders (id) ON DELETE CASCADE)`);
const tools = sqlTools({ path });
afterAll(() => {
  tools.close();
  others.close();
  rmSync(directory, { recursive: true, force: true });
});

let cases = 0;

/** A case on rows of its own. */
function begin(statement: (id: number) => { sql: string; params: (number | string)[] }) {
  return (): AdapterCase => {
    cases += 1;
    const id = cases * 10;
    others
      .prepare("INSERT INTO orders (id, item, total, photo) VALUES (?, 'cup', 7.5, x'00ff')")
      .run(id);
    others.prepare("INSERT INTO lines VALUES (?, ?), (?, ?)").run(`a${id}`, id, `b${id}`, id);
    const mine = `id BETWEEN ${id} AND ${id + 9}`;
    return {
      args: statement(id),
      nextArgs: { sql: "INSERT INTO orders (id, item) VALUES (?, 'next')", params: [id + 5] },
      snapshot: () => [
        others.prepare(`SELECT *, typeof(total) FROM orders WHERE ${mine} ORDER BY id`).all(),
        others.prepare(`SELECT * FROM lines WHERE id LIKE '_${id}' ORDER BY id`).all(),
      ],
      change: () => {
        others
          .prepare(
            "INSERT INTO orders (id, item) VALUES (?, 'theirs') ON CONFLICT DO UPDATE SET item = 'theirs'",
          )
          .run(id);
        others.prepare("UPDATE orders SET item = 'theirs' WHERE id = ?").run(id + 1);
      },
      hold: (when) => {
        if (when === "after") return null;
        others.exec("BEGIN IMMEDIATE");
        return { arrived: Promise.resolve(), release: () => void others.exec("ROLLBACK") };
      },
    };
  };
}

adapterConformance(
  { describe, it, expect },
  {
    tool: tools[0],
    world: {
      begin: begin((id) => ({
        sql: "INSERT INTO orders (id, item, total) VALUES (?, 'pot', 3)",
        params: [id + 1],
      })),
    },
  },
);

const versioned = begin((id) => ({
  sql: "UPDATE orders SET total = total + 1, version = version + 1 WHERE id = ?",
  params: [id],
}));
adapterConformance(
  { describe, it, expect },
  {
    tool: tools[0],
    world: {
      begin: () => {
        const one = versioned();
        return {
          ...one,
          changeAndChangeBack: () => {
            const { params } = one.args as { params: number[] };
            for (const by of [1, -1]) {
              others
                .prepare("UPDATE orders SET total = total + ?, version = version + 1 WHERE id = ?")
                .run(by, params[0]);
            }
          },
        };
      },
    },
  },
);

adapterConformance(
  { describe, it, expect },
  {
    tool: tools[0],
    world: { begin: begin((id) => ({ sql: "DELETE FROM orders WHERE id = ?", params: [id] })) },
  },
);

adapterConformance(
  { describe, it, expect },
  {
    tool: tools[0],
    world: {
      begin: begin((id) => ({
        sql: "INSERT OR REPLACE INTO orders (id, item) VALUES (?, 'replaced')",
        params: [id],
      })),
    },
  },
);
