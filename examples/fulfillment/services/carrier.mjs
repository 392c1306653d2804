// Carrier: bookings of parcels. One that was collected can no longer be cancelled.
//   POST /bookings { customer_id, reservation_id }   (keyed)   201
//   POST /bookings/:id/cancel                        (keyed)   200; 409 when it was collected
//   GET  /bookings/:id
//   POST /admin/collect { booking_id }               the van was there
import { Refusal, startService } from "./service.mjs";

startService({
  name: "carrier",
  tables: `
    CREATE TABLE IF NOT EXISTS bookings (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, reservation_id TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('booked', 'cancelled', 'collected')));`,
  routes: (db) => ({
    "POST /bookings": {
      keyed: true,
      run: ({ body }) => {
        if (!Number.isInteger(body.customer_id)) {
          throw new Refusal(400, "invalid_value", "customer_id must be a number.", "customer_id");
        }
        const id = db
          .prepare("INSERT INTO bookings (customer_id, reservation_id, state) VALUES (?, ?, ?)")
          .run(body.customer_id, String(body.reservation_id), "booked").lastInsertRowid;
        return { status: 201, body: { booking_id: `BKG-${id}`, pickup: "tomorrow 08:00" } };
      },
    },
    "POST /bookings/:id/cancel": {
      keyed: true,
      run: ({ params }) => {
        const row = find(db, params.id);
        if (row.state === "collected") {
          throw new Refusal(409, "already_collected", "The parcel was collected.");
        }
        db.prepare("UPDATE bookings SET state = 'cancelled' WHERE id = ?").run(row.id);
        return { status: 200, body: { booking_id: params.id, state: "cancelled" } };
      },
    },
    "GET /bookings/:id": ({ params }) => {
      const row = find(db, params.id);
      return { status: 200, body: { booking_id: params.id, state: row.state } };
    },
    "POST /admin/collect": ({ body }) => {
      const row = find(db, body.booking_id);
      if (row.state !== "booked") throw new Refusal(409, "not_booked", "It is not booked.");
      db.prepare("UPDATE bookings SET state = 'collected' WHERE id = ?").run(row.id);
      return { status: 200, body: { booking_id: body.booking_id, state: "collected" } };
    },
    "GET /ledger": () => ({
      status: 200,
      body: {
        bookings: db
          .prepare("SELECT 'BKG-' || id AS id, customer_id, state FROM bookings ORDER BY id")
          .all(),
      },
    }),
  }),
});

function find(db, id) {
  const row = db.prepare("SELECT * FROM bookings WHERE 'BKG-' || id = ?").get(String(id));
  if (!row) throw new Refusal(404, "not_found", "There is no such booking.");
  return row;
}
