// The tools of the example, defined as a user would define them: a zod schema, `fetch` with the
// signal and the idempotency key it is handed, and how to look up and take back what it did.
// Settings: INVENTORY_URL, CARRIER_URL, PAYMENTS_URL (services/launch.mjs prints them), OUTBOX_FILE.
import { DefiniteFailure, defineTool } from "@agenttx/engine";
import { jsonLinesSink, recordTools } from "@agenttx/tools";
import { z } from "zod";

/** A customer was merged; the search index has not caught up, and still finds the old number. */
const SEARCH_INDEX = {
  name: { "Ada Lovelace": 1007 },
  email: { "ada@example.com": 1042 },
};

const reserve = defineTool({
  name: "inventory.reserve",
  description: "Reserves stock of one article",
  schema: z.strictObject({ sku: z.string(), quantity: z.int().positive() }),
  effect: "reversible",
  deadlineMs: 5_000,
  execute: (args, { idempotencyKey, signal }) =>
    post("INVENTORY_URL", "/reservations", { body: args, key: idempotencyKey, signal }),
  ...takenBackByKey({
    service: "INVENTORY_URL",
    undoPath: (answer) => `/reservations/${answer.reservation_id}/release`,
    statePath: (answer) => `/reservations/${answer.reservation_id}`,
    undoneState: "released",
  }),
});

const search = defineTool({
  name: "customers.search",
  description: "Finds the number of a customer by name or by e-mail address",
  schema: z.strictObject({ by: z.enum(["name", "email"]), value: z.string() }),
  effect: "read-only",
  execute: ({ by, value }) => {
    const customerId = SEARCH_INDEX[by][value];
    if (customerId === undefined) throw new Error("no customer matches");
    return { customer_id: customerId };
  },
});

const book = defineTool({
  name: "carrier.book",
  description: "Books the pick-up of a reserved parcel",
  schema: z.strictObject({ customer_id: z.int(), reservation_id: z.string() }),
  effect: "reversible",
  deadlineMs: 5_000,
  execute: (args, { idempotencyKey, signal }) =>
    post("CARRIER_URL", "/bookings", { body: args, key: idempotencyKey, signal }),
  ...takenBackByKey({
    service: "CARRIER_URL",
    undoPath: (answer) => `/bookings/${answer.booking_id}/cancel`,
    statePath: (answer) => `/bookings/${answer.booking_id}`,
    undoneState: "cancelled",
  }),
});

const capture = defineTool({
  name: "payments.capture",
  description: "Captures an amount from the customer's card",
  schema: z.strictObject({ customer_id: z.int(), amount_cents: z.int().positive() }),
  effect: "reversible",
  deadlineMs: 5_000,
  execute: (args, { idempotencyKey, signal }) =>
    post("PAYMENTS_URL", "/captures", { body: args, key: idempotencyKey, signal }),
  ...takenBackByKey({
    service: "PAYMENTS_URL",
    undoPath: (answer) => `/captures/${answer.capture_id}/refund`,
    statePath: (answer) => `/captures/${answer.capture_id}`,
    undoneState: "refunded",
  }),
});

/** Mails leave as lines of a file; made on first use, because only then the setting is needed. */
let outbox = null;

const email = defineTool({
  name: "email.send",
  description: "Sends a mail; nobody can take it back, so it leaves after the commit",
  schema: z.strictObject({ to: z.email(), subject: z.string() }),
  effect: "irreversible",
  irreversible: "staged",
  execute: (args, { idempotencyKey, transaction, step, signal }) => {
    // Delivered at least once: the sink knows a key it has seen, and writes it only once.
    outbox ??= jsonLinesSink({ path: setting("OUTBOX_FILE") });
    return outbox.deliver({ idempotencyKey, transaction, step, payload: args }, signal);
  },
});

/** The orders database: rows in the transaction's own state, undone by the journal. */
const orders = recordTools({
  tables: {
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
        customer_id: { type: "integer", notNull: true, references: "customers" },
        booking_id: { type: "text" },
        capture_id: { type: "text" },
      },
    },
  },
});

/** What `agenttx run --tools` looks for. */
export const tools = [reserve, search, book, capture, email, ...orders];

/**
 * Undo, look-up and check for a service with idempotency keys. All start from the key: whether the
 * answer was lost, never came or is known makes no difference. A key without an answer is voided
 * first, so that a request that is still on its way cannot land behind the undo.
 */
function takenBackByKey({ service, undoPath, statePath, undoneState }) {
  const settle = async (key, signal) => {
    const { status, body } = await send(service, `/keys/${key}/void`, { method: "POST", signal });
    if (status === 200) return null;
    if (status === 409) return body.answer;
    throw new Error(`the service answered ${status} about the key`);
  };
  return {
    lookup: async ({ idempotencyKey }, { signal }) => {
      const answer = await settle(idempotencyKey, signal);
      if (answer === null) return { status: "absent", final: true };
      return { status: "landed", output: answer };
    },
    compensate: async (_call, { idempotencyKey, undoKey, signal }) => {
      const answer = await settle(idempotencyKey, signal);
      if (answer === null) return { status: "already-undone" };
      const undo = { method: "POST", key: undoKey, signal };
      const { status, body } = await send(service, undoPath(answer), undo);
      if (status === 200) return { status: "undone" };
      if (status === 409) return { status: "dirty", expected: undoneState, found: body.error.code };
      throw new Error(`the service answered ${status} to the undo`);
    },
    verify: async (_call, { idempotencyKey, signal }) => {
      const answer = await settle(idempotencyKey, signal);
      if (answer === null) return true;
      const { body } = await send(service, statePath(answer), { signal });
      return body.state === undoneState;
    },
  };
}

/** A refusal (4xx) certainly changed nothing; anything else may have, and is left open. */
async function post(service, path, options) {
  const { status, body } = await send(service, path, { method: "POST", ...options });
  if (status < 300) return body;
  const text = JSON.stringify({ status, ...body });
  throw status < 500 ? new DefiniteFailure(text) : new Error(text);
}

async function send(service, path, { method = "GET", body, key, signal }) {
  const response = await fetch(new URL(path, setting(service)), {
    method,
    signal,
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

function setting(name) {
  const value = process.env[name];
  if (!value) throw new DefiniteFailure(`the environment variable ${name} is not set`);
  return value;
}
