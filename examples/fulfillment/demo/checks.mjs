// What the demo expects to find in the end, and what it found. Nothing here is assumed: each value
// is read from the service, the store or the outbox file that holds it.
import { existsSync, readFileSync } from "node:fs";
import { readRecords } from "./records.mjs";

/** Rows `{ holder, what, found, expected, ok }`. */
export async function checkEverything({ urls, data, outbox, orders }) {
  const [inventory, carrier, payments] = await Promise.all(
    ["inventory", "carrier", "payments"].map((name) => ledger(urls[name])),
  );
  const records = await readRecords(
    data,
    orders.map(({ order }) => order),
  );
  const mails = existsSync(outbox) ? readFileSync(outbox, "utf8").trim().split("\n") : [];
  const parsed = mails.filter((line) => line !== "").map((line) => JSON.parse(line));
  const rows = [
    row("inventory", "free KB-75, of 20", inventory.stock[0].free, 20 - 2 * orders.length),
    row(
      "inventory",
      "reservations",
      states(inventory.reservations),
      "reserved, released, reserved",
    ),
    row(
      "carrier",
      "bookings",
      bookings(carrier),
      "1007 cancelled, 1042 booked, 1007 cancelled, 1007 cancelled, 1042 booked",
    ),
    row(
      "payments",
      "captures",
      states(payments.captures),
      "refunded, captured, refunded, captured",
    ),
    row("payments", "money held", money(payments), `${orders.length} x 158.00`),
  ];
  for (const { order, booking, capture } of orders) {
    rows.push(
      row("orders", order, describe(records.orders[order]), `1042, ${booking}, ${capture}`),
    );
  }
  rows.push(
    row(
      "outbox",
      "mails",
      parsed.map((mail) => mail.payload.subject.split(" ")[1]).join(", "),
      orders.map(({ order }) => order).join(", "),
    ),
    row(
      "outbox",
      "different keys",
      new Set(parsed.map((mail) => mail.idempotencyKey)).size,
      orders.length,
    ),
    row("agenttx", "open transactions", records.open, 0),
    row("agenttx", "unresolved effects", records.unresolved, 0),
  );
  return rows;
}

function row(holder, what, found, expected) {
  return { holder, what, found, expected, ok: String(found) === String(expected) };
}

async function ledger(url) {
  const response = await fetch(`${url}/ledger`, { signal: AbortSignal.timeout(5_000) });
  return response.json();
}

function states(rows) {
  return rows.map((one) => one.state).join(", ");
}

function bookings({ bookings: rows }) {
  return rows.map((one) => `${one.customer_id} ${one.state}`).join(", ");
}

function money({ captures }) {
  const held = captures.filter((one) => one.state === "captured");
  const amounts = new Set(held.map((one) => (one.amount_cents / 100).toFixed(2)));
  return `${held.length} x ${[...amounts].join("/")}`;
}

function describe(record) {
  return record ? `${record.customer_id}, ${record.booking_id}, ${record.capture_id}` : "missing";
}
