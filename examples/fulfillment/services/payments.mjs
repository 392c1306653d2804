// Payments: captures of money and their refunds. Amounts are whole cents.
//   POST /captures { customer_id, amount_cents }   (keyed)   201
//   POST /captures/:id/refund                      (keyed)   200, also when it is refunded already
//   GET  /captures/:id
import { Refusal, startService } from "./service.mjs";

startService({
  name: "payments",
  tables: `
    CREATE TABLE IF NOT EXISTS captures (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL,
      amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
      state TEXT NOT NULL CHECK (state IN ('captured', 'refunded')));`,
  routes: (db) => ({
    "POST /captures": {
      keyed: true,
      run: ({ body }) => {
        const { customer_id, amount_cents } = body;
        if (!Number.isInteger(amount_cents) || amount_cents < 1) {
          throw new Refusal(400, "invalid_value", "amount_cents must be positive.", "amount_cents");
        }
        const id = db
          .prepare("INSERT INTO captures (customer_id, amount_cents, state) VALUES (?, ?, ?)")
          .run(customer_id, amount_cents, "captured").lastInsertRowid;
        return { status: 201, body: { capture_id: `CAP-${id}`, amount_cents } };
      },
    },
    "POST /captures/:id/refund": {
      keyed: true,
      run: ({ params }) => {
        const row = find(db, params.id);
        db.prepare("UPDATE captures SET state = 'refunded' WHERE id = ?").run(row.id);
        return { status: 200, body: { capture_id: params.id, state: "refunded" } };
      },
    },
    "GET /captures/:id": ({ params }) => {
      const row = find(db, params.id);
      return { status: 200, body: { capture_id: params.id, state: row.state } };
    },
    "GET /ledger": () => ({
      status: 200,
      body: {
        captures: db
          .prepare(
            "SELECT 'CAP-' || id AS id, customer_id, amount_cents, state FROM captures ORDER BY id",
          )
          .all(),
      },
    }),
  }),
});

function find(db, id) {
  const row = db.prepare("SELECT * FROM captures WHERE 'CAP-' || id = ?").get(id);
  if (!row) throw new Refusal(404, "not_found", "There is no such capture.");
  return row;
}
