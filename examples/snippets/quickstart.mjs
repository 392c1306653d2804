// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to steps look like that
// The engine in your own program: two tools, a mistake, a rewind, a commit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, defineTool } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { recordTools } from "@agenttx/tools";
import { z } from "zod";

// Stands for a service somewhere else; the key makes a repeated request harmless.
const bookings = new Map();

const search = defineTool({
  name: "customers.search",
  schema: z.object({ by: z.enum(["name", "email"]) }),
  effect: "read-only",
  execute: ({ by }) => ({ customer_id: by === "name" ? 1007 : 1042 }),
});

const book = defineTool({
  name: "hotel.book",
  schema: z.object({ customer_id: z.number(), nights: z.number() }),
  effect: "reversible",
  execute: (args, { idempotencyKey }) => {
    bookings.set(idempotencyKey, args);
    return { booking_id: `B-${bookings.size}` };
  },
  compensate: (_call, { idempotencyKey }) => {
    bookings.delete(idempotencyKey);
  },
});

const records = recordTools({
  tables: {
    customers: { primaryKey: "customer_id", columns: { customer_id: { type: "integer" } } },
    stays: {
      primaryKey: "stay_id",
      columns: {
        stay_id: { type: "text" },
        customer_id: { type: "integer", references: "customers" },
      },
    },
  },
});

const path = mkdtempSync(join(tmpdir(), "agenttx-quickstart-"));
const store = await openStore({ path });
const engine = createEngine({ store, tools: [search, book, ...records] });
try {
  await engine.transaction((tx) =>
    tx.step("record.insert", { table: "customers", values: { customer_id: 1042 } }),
  );

  const tx = await engine.begin({ agentId: "quickstart" });
  await tx.step("customers.search", { by: "name" }); // step 1: the wrong customer
  await tx.step("hotel.book", { customer_id: "${steps.1.customer_id}", nights: 2 });
  const stay = { stay_id: "S-1", customer_id: "${steps.1.customer_id}" };
  const failed = await tx.step("record.insert", { table: "stays", values: stay });

  // A rollback is an answer: the booking is gone, and the run stands before step 1 again.
  console.log(`${failed.status}: ${failed.strategy} to step ${failed.rollbackToStep}`);
  console.log(`the hint blames ${failed.hint.key}; bookings left: ${bookings.size}`);

  await tx.step("customers.search", { by: "email" });
  await tx.step("hotel.book", { customer_id: "${steps.1.customer_id}", nights: 2 });
  await tx.step("record.insert", { table: "stays", values: stay });
  const { status, stepsCommitted } = await tx.commit();
  console.log(`${status}: ${stepsCommitted} steps, bookings: ${bookings.size}`);
} finally {
  await engine.close();
  await store.close();
  rmSync(path, { recursive: true, force: true });
}
