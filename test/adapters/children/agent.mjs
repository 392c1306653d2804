// Owns an agent in a process of its own: runs the plan step by step and says so, until it is done
// or killed. Arguments: directory of the world, origin of the booking service, item to book.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { adapterTools, PLAN, planArguments } from "./plan.mjs";

const [directory, origin, item] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);

const store = await openStore({ path: join(directory, "store") });
const engine = createEngine({ store, tools: adapterTools(directory, origin) });
const tx = await engine.begin();
for (const [index, name] of PLAN.entries()) {
  say(`begin ${index + 1}`);
  const outcome = await tx.step(name, planArguments(origin, item)[index]);
  if (outcome.status !== "SUCCESS") throw new Error(JSON.stringify(outcome));
  say(`done ${index + 1}`);
}
setInterval(() => undefined, 1_000);
