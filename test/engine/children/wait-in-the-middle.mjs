// Awaits one operation that for a while waits for nothing but a timer of the engine, then says
// "done". argv: which one.
import { createEngine, defineTool } from "@agenttx/engine";
import { openMemoryStore } from "@agenttx/testkit";
import { effectTools, kvTools } from "@agenttx/tools";

const any = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
const never = () => new Promise(() => undefined);
let failures = 0;
const fail = (message) => {
  failures += 1;
  if (failures <= 2) throw new Error(message);
};
const sink = {
  async deliver() {
    fail("the sink is down");
    return { duplicate: false };
  },
};
const tools = [
  ...kvTools(),
  ...effectTools({ sinks: { mail: sink } }),
  defineTool({ name: "hang", schema: any, effect: "read-only", deadlineMs: 50, execute: never }),
  defineTool({
    name: "lost",
    schema: any,
    effect: "reversible",
    deadlineMs: 50,
    execute: never,
    compensate: () => undefined,
    lookup: () => ({ status: "absent", final: false }),
  }),
  defineTool({
    name: "stubborn",
    schema: any,
    effect: "reversible",
    execute: () => null,
    compensate: () => fail("not yet"),
  }),
  defineTool({
    name: "busy",
    schema: any,
    effect: "read-only",
    execute: () => {
      fail("429 Too Many Requests");
      return null;
    },
  }),
];

const effects = { settlingMs: 50, backoffBaseMs: 50 };
const engine = createEngine({ store: openMemoryStore(), tools, effects });
const tx = await engine.begin();

const WAYS = {
  "a deadline": () => tx.step("hang", {}),
  "a lookup": () => tx.step("lost", {}),
  "a retry": () => tx.step("busy", {}),
  "an undo": async () => {
    await tx.step("stubborn", {});
    await tx.abort();
  },
  "a delivery": async () => {
    await tx.step("effect.stage", { sink: "mail", payload: 1 });
    await tx.commit();
  },
  "a conflict": async () => {
    let runs = 0;
    await engine.transaction(async (one) => {
      await one.step("kv.get", { key: "k" });
      runs += 1;
      if (runs === 1) {
        await engine.transaction((other) => other.step("kv.put", { key: "k", value: 1 }));
      }
      await one.step("kv.put", { key: "k", value: 2 });
    });
  },
  "a close": async () => {
    tx.step("hang", {}).catch(() => undefined);
    await engine.close();
  },
};

await WAYS[process.argv[2]]();
process.stdout.write("done\n");
