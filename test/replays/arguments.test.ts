// Goal: bug report 11. Arguments the schema does not know, and bad types, are answers that name the
// argument; the tool never runs and nothing is written.
import { defineTool } from "@agenttx/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DRIVERS, start } from "./drivers.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it.each([
    ["an unknown argument", { product_id: "p", quantity: 1, currency: "EUR" }, "currency"],
    ["a wrong type", { product_id: "p", quantity: "two" }, "quantity"],
    ["a missing argument", { product_id: "p" }, "quantity"],
    ["a nested one", { product_id: "p", quantity: 1, ship: { zip: 5 } }, "ship.zip"],
  ])("11: %s is named", async (_what, args, key) => {
    let runs = 0;
    const order = defineTool({
      name: "order",
      schema: z.strictObject({
        product_id: z.string(),
        quantity: z.number().int(),
        ship: z.strictObject({ zip: z.string() }).optional(),
      }),
      effect: "reversible",
      scope: "store",
      execute(_args, { state }) {
        runs += 1;
        state.put("order", Buffer.from("1"));
        return null;
      },
    });
    const { engine, store } = await start(driver, [order]);
    const tx = await engine.begin();
    const outcome = await tx.step("order", {} as never, { argumentsJson: JSON.stringify(args) });
    expect(outcome).toMatchObject({ status: "ROLLBACK_TRIGGERED", hint: { key } });
    expect(runs).toBe(0);
    await tx.commit();
    expect(await store.get("order")).toBeNull();
  });
});
