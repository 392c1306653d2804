// Inventory: how much of each article is free, and who reserved what.
//   POST /reservations { sku, quantity }   (keyed)   201; 404 unknown article; 409 not enough left
//   POST /reservations/:id/release         (keyed)   200, also when it is released already
//   GET  /reservations/:id
import { Refusal, startService } from "./service.mjs";

startService({
  name: "inventory",
  tables: `
    CREATE TABLE IF NOT EXISTS stock (
      sku TEXT PRIMARY KEY, free INTEGER NOT NULL CHECK (free >= 0));
    CREATE TABLE IF NOT EXISTS reservations (
      id INTEGER PRIMARY KEY, sku TEXT NOT NULL REFERENCES stock (sku),
      quantity INTEGER NOT NULL CHECK (quantity > 0),
      state TEXT NOT NULL CHECK (state IN ('reserved', 'released')));`,
  prepare: (db) => {
    db.prepare("INSERT INTO stock VALUES ('KB-75', 20) ON CONFLICT DO NOTHING").run();
  },
  routes: (db) => ({
    "POST /reservations": {
      keyed: true,
      run: ({ body }) => {
        const { sku, quantity } = body;
        if (!Number.isInteger(quantity) || quantity < 1) {
          throw new Refusal(400, "invalid_value", "quantity must be a whole number.", "quantity");
        }
        const stock = db.prepare("SELECT free FROM stock WHERE sku = ?").get(String(sku));
        if (!stock) throw new Refusal(404, "not_found", "There is no such article.", "sku");
        if (stock.free < quantity) {
          throw new Refusal(409, "out_of_stock", "Not enough is left.", "quantity");
        }
        db.prepare("UPDATE stock SET free = free - ? WHERE sku = ?").run(quantity, sku);
        const id = db
          .prepare("INSERT INTO reservations (sku, quantity, state) VALUES (?, ?, 'reserved')")
          .run(sku, quantity).lastInsertRowid;
        return { status: 201, body: { reservation_id: `RES-${id}`, sku, quantity } };
      },
    },
    "POST /reservations/:id/release": {
      keyed: true,
      run: ({ params }) => {
        const row = find(db, params.id);
        if (row.state === "reserved") {
          db.prepare("UPDATE reservations SET state = 'released' WHERE id = ?").run(row.id);
          db.prepare("UPDATE stock SET free = free + ? WHERE sku = ?").run(row.quantity, row.sku);
        }
        return { status: 200, body: { reservation_id: params.id, state: "released" } };
      },
    },
    "GET /reservations/:id": ({ params }) => {
      const row = find(db, params.id);
      return { status: 200, body: { reservation_id: params.id, state: row.state } };
    },
    "GET /ledger": () => ({
      status: 200,
      body: {
        stock: db.prepare("SELECT sku, free FROM stock ORDER BY sku").all(),
        reservations: db
          .prepare("SELECT 'RES-' || id AS id, sku, quantity, state FROM reservations ORDER BY id")
          .all(),
      },
    }),
  }),
});

function find(db, id) {
  const row = db.prepare("SELECT * FROM reservations WHERE 'RES-' || id = ?").get(id);
  if (!row) throw new Refusal(404, "not_found", "There is no such reservation.");
  return row;
}
