// Goal: the process dies before or after every single durable write of a whole run. Whatever the
// moment: undone or resumed, the world and the store end as if it had not happened half.
import { createEngine, defineTool, type Engine } from "@agenttx/engine";
import type { Store } from "@agenttx/model";
import { fakeClock, faultyStore, openMemoryStore } from "@agenttx/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const item = z.strictObject({ item: z.string() });

/** The other side: it knows idempotency keys, and outlives every process. */
function outside() {
  const standing = new Map<string, string>();
  const mails = new Map<string, number>();
  const tools = [
    defineTool({
      name: "book",
      schema: item,
      effect: "reversible",
      execute(args, { idempotencyKey }) {
        standing.set(idempotencyKey, args.item);
        return { booked: args.item };
      },
      compensate(_call, { idempotencyKey }) {
        standing.delete(idempotencyKey);
      },
      lookup(call, { idempotencyKey }) {
        return standing.has(idempotencyKey)
          ? { status: "landed" as const, output: { booked: call.args.item } }
          : { status: "absent" as const, final: true };
      },
    }),
    defineTool({
      name: "put",
      schema: item,
      effect: "reversible",
      scope: "store",
      execute(args, { state }) {
        state.put(args.item, Buffer.from("1"));
        return null;
      },
    }),
    defineTool({
      name: "mail",
      schema: item,
      effect: "irreversible",
      irreversible: "staged",
      execute(_args, { idempotencyKey }) {
        mails.set(idempotencyKey, (mails.get(idempotencyKey) ?? 0) + 1);
        return null;
      },
    }),
  ] as const;
  return { tools, standing, mails };
}

type Outside = ReturnType<typeof outside>;
type TheEngine = Engine<Outside["tools"]>;

const PLAN = [
  ["book", "a"],
  ["put", "k"],
  ["mail", "m"],
  ["book", "b"],
] as const;

const engineOn = (store: Store, world: Outside): TheEngine =>
  createEngine({ store, tools: world.tools, clock: fakeClock() });

/** Runs or goes on: every step of the plan, once back to step 3, the rest again, commit. */
async function run(engine: TheEngine, id: string | null, seen: (id: string) => void) {
  const tx = id === null ? await engine.begin() : await engine.resume(id);
  seen(tx.id);
  if (tx.status === "COMMITTED") return;
  for (;;) {
    const history = await tx.history();
    const rewound = history.some((one) => one.kind === "rewound" && one.why === "manual");
    if (tx.nextStep > PLAN.length) {
      if (rewound) break;
      await tx.rollback(3);
    }
    const [tool, name] = PLAN[tx.nextStep - 1] ?? PLAN[0];
    const outcome = await tx.step(tool, { item: rewound ? `${name}2` : name });
    if (outcome.status !== "SUCCESS") throw new Error(`unexpected: ${outcome.status}`);
  }
  await tx.commit();
}

async function crashAt(write: number, when: "before" | "after") {
  const world = outside();
  const memory = openMemoryStore();
  const store = faultyStore(memory, { write, when, kind: "throw", sticky: true });
  let id: string | null = null;
  const seen = (known: string): void => {
    id = known;
  };
  const crashed = await run(engineOn(store, world), null, seen).then(
    () => false,
    () => true,
  );
  await memory.reopen();
  return { world, memory, id: id as string | null, crashed, writes: store.writes.length };
}

const keysOf = async (store: Store) =>
  (await store.scan()).map(({ key }) => Buffer.from(key).toString());

describe.each(["before", "after"] as const)("dead %s a write", (when) => {
  it("is undone by default: all of it, or none", async () => {
    let committed = 0;
    for (let write = 2; write < 200; write += 1) {
      const { world, memory, id, crashed } = await crashAt(write, when);
      if (!crashed) break;
      const clock = fakeClock();
      const engine = createEngine({ store: memory, tools: world.tools, clock });
      const report = await engine.recover();
      await clock.advance(60_000);
      const about = `write ${write}`;
      expect(report.problems, about).toEqual([]);
      expect(await memory.openTransactions(), about).toEqual([]);
      const { status } = await engine.get(id ?? "");
      if (status === "COMMITTED") {
        committed += 1;
        expect([...world.standing.values()].sort(), about).toEqual(["a", "b2"]);
        expect([...world.mails.values()].length, about).toBe(1);
        expect(await keysOf(memory), about).toEqual(["k"]);
      } else {
        expect(status, about).toBe("ROLLED_BACK");
        expect([...world.standing], about).toEqual([]);
        expect([...world.mails], about).toEqual([]);
        expect(await keysOf(memory), about).toEqual([]);
      }
      expect(await engine.unresolved(), about).toEqual([]);
      await engine.close();
    }
    // Dead after the commit's own batch is committed; dead before it is not.
    expect(committed > 0).toBe(when === "after");
  });

  it("goes on with resume, to the same end", async () => {
    for (let write = 2; write < 200; write += 1) {
      const { world, memory, id, crashed } = await crashAt(write, when);
      if (!crashed) break;
      const clock = fakeClock();
      const engine = createEngine({ store: memory, tools: world.tools, clock });
      await engine.recover({ resume: true });
      await run(engine, id, () => undefined);
      await clock.advance(60_000);
      const about = `write ${write}`;
      expect([...world.standing.values()].sort(), about).toEqual(["a", "b2"]);
      expect([...world.mails.values()].length, about).toBe(1);
      expect(await keysOf(memory), about).toEqual(["k"]);
      expect(await memory.openTransactions(), about).toEqual([]);
      await engine.close();
    }
  });
});
