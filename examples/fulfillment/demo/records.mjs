// Reads the orders database the way any program would: an engine on the store, a read-only step.
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { tools } from "../tools.mjs";

/** The orders by number (null when there is none), and what is still open or unresolved. */
export async function readRecords(path, orderIds) {
  const store = await openStore({ path });
  const engine = createEngine({ store, tools });
  try {
    const orders = await engine.transaction(async (tx) => {
      const rows = {};
      for (const key of orderIds) {
        const outcome = await tx.step("record.get", { table: "orders", key });
        rows[key] = outcome.status === "SUCCESS" ? outcome.output.row : null;
      }
      return rows;
    });
    const { openTransactions } = await store.stats();
    const unresolved = (await engine.unresolved()).length;
    return { orders, open: openTransactions, unresolved };
  } finally {
    await engine.close();
    await store.close();
  }
}
