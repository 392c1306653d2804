// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to steps look like that
// What cannot be taken back is never called undone: the transaction freezes until a person has said
// what became of it, and then goes on.
import { createEngine, DefiniteFailure, defineTool } from "@agenttx/engine";
import { openMemoryStore } from "@agenttx/storage/memory";
import { z } from "zod";

const ship = defineTool({
  name: "parcel.ship",
  schema: z.object({ order: z.string() }),
  effect: "reversible",
  owner: "warehouse",
  execute: () => ({ parcel_id: "P-1" }),
  // The van was there: there is nothing left to cancel. `dirty` says so, and changes nothing.
  compensate: () => ({ status: "dirty", expected: "waiting", found: "collected" }),
});

const charge = defineTool({
  name: "card.charge",
  schema: z.object({ parcel_id: z.string() }),
  effect: "reversible",
  execute: () => {
    throw new DefiniteFailure("payment declined: parcel_id is not insured");
  },
  compensate: () => undefined,
});

const store = openMemoryStore();
const engine = createEngine({ store, tools: [ship, charge] });
try {
  const tx = await engine.begin();
  await tx.step("parcel.ship", { order: "A-1001" });
  const outcome = await tx.step("card.charge", { parcel_id: "${steps.1.parcel_id}" });
  console.log(`step 2: ${outcome.status}, ${outcome.abortReason}`);
  console.log(`the transaction is ${tx.status}`);

  const [effect] = await engine.unresolved();
  console.log(`unresolved: step ${effect.step}, ${effect.tool}, owner ${effect.owner}`);

  // A person drove after the van. From here on the ledger says who settled it, and how.
  const { state } = await engine.resolveEffect(effect.effectId, {
    kind: "compensated-by-hand",
    actor: "ann",
    note: "fetched the parcel back",
  });
  console.log(`the effect is ${state}, the transaction ${tx.status} at step ${tx.nextStep}`);
  await tx.abort();
} finally {
  await engine.close();
  await store.close();
}
