// Goal: random runs against a model that is only a list of steps. After every operation, crashes
// and clean restarts included, state, effects and the next step are what the list says.
import { createEngine, defineTool, type Engine, type Transaction } from "@agenttx/engine";
import { fakeClock, openMemoryStore } from "@agenttx/testkit";
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";

type Operation =
  | { readonly kind: "put"; readonly key: string; readonly value: number }
  | { readonly kind: "delete"; readonly key: string }
  | { readonly kind: "book" }
  | { readonly kind: "fail"; readonly half: boolean }
  | { readonly kind: "rollback"; readonly share: number }
  | { readonly kind: "report"; readonly share: number }
  | { readonly kind: "crash" }
  | { readonly kind: "restart" };

const key = fc.constantFrom("a", "b", "c");
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put"), key, value: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete"), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("book") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fail"), half: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rollback"), share: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("report"), share: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("crash", "restart") }) },
) as fc.Arbitrary<Operation>;

function tools(standing: Set<string>) {
  return [
    defineTool({
      name: "put",
      schema: z.strictObject({ key: z.string(), value: z.number().nullable() }),
      effect: "reversible",
      scope: "store",
      execute(args, { state }) {
        if (args.value === null) state.delete(args.key);
        else state.put(args.key, Buffer.from(String(args.value)));
        return null;
      },
    }),
    defineTool({
      name: "get",
      schema: z.strictObject({}),
      effect: "read-only",
      scope: "store",
      async execute(_args, { state }) {
        const entries = await state.scan({});
        return entries.map((one) => `${Buffer.from(one.key)}=${Buffer.from(one.value)}`);
      },
    }),
    defineTool({
      name: "book",
      schema: z.strictObject({ fail: z.boolean() }),
      effect: "reversible",
      execute({ fail }, { idempotencyKey }) {
        standing.add(idempotencyKey);
        if (fail) throw new Error("half way");
        return null;
      },
      compensate: (_call, { idempotencyKey }) => void standing.delete(idempotencyKey),
    }),
  ] as const;
}

type Tools = ReturnType<typeof tools>;
type Step = { readonly writes: readonly [string, number | null][]; readonly books: boolean };

it("is always the list of steps that stand", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const run = await Run.start();
      for (const one of operations) {
        if (!(await run.apply(one))) break;
        await run.check();
      }
      await run.finish();
    }),
    { numRuns: 60 },
  );
});

class Run {
  readonly #standing = new Set<string>();
  readonly #store = openMemoryStore();
  #engine: Engine<Tools> = this.#newEngine();
  #tx: Transaction<Tools> | null = null;
  #steps: Step[] = [];

  static async start(): Promise<Run> {
    const run = new Run();
    run.#tx = await run.#engine.begin({ policy: { maxGlobalResets: 3 } });
    return run;
  }

  #newEngine(): Engine<Tools> {
    const clock = fakeClock();
    return createEngine({ store: this.#store, tools: tools(this.#standing), clock });
  }

  get #open(): Transaction<Tools> {
    if (this.#tx === null) throw new Error("The run has not begun");
    return this.#tx;
  }

  /** False when the transaction has ended. */
  async apply(one: Operation): Promise<boolean> {
    switch (one.kind) {
      case "put":
        return this.#step("put", { key: one.key, value: one.value }, [[one.key, one.value]]);
      case "delete":
        return this.#step("put", { key: one.key, value: null }, [[one.key, null]]);
      case "book":
        return this.#step("book", { fail: false }, []);
      case "fail":
        return this.#step(one.half ? "book" : "nope", { fail: true }, []);
      case "rollback": {
        const target = 1 + (one.share % this.#open.nextStep);
        await this.#open.rollback(target);
        this.#steps.length = target - 1;
        return true;
      }
      case "report": {
        if (this.#steps.length === 0) return true;
        const step = 1 + (one.share % this.#steps.length);
        return this.#follow(await this.#open.reportFailure(step, { text: "wrong" }));
      }
      default:
        return this.#restart(one.kind === "crash");
    }
  }

  async #step(name: "put" | "book" | "nope", args: object, writes: Step["writes"]) {
    const json = { argumentsJson: JSON.stringify(args) };
    const outcome = await this.#open.step(name, {} as never, json);
    if (outcome.status === "SUCCESS") this.#steps.push({ writes, books: name === "book" });
    return this.#follow(outcome);
  }

  #follow(outcome: { readonly status: string; readonly nextStep: number }): boolean {
    if (outcome.status !== "FAILED") this.#steps.length = outcome.nextStep - 1;
    else this.#steps = [];
    return outcome.status !== "FAILED";
  }

  async #restart(crash: boolean): Promise<boolean> {
    const { id } = this.#open;
    if (!crash) await this.#engine.close();
    await this.#store.reopen();
    this.#engine = this.#newEngine();
    await this.#engine.recover({ resume: true });
    this.#tx = await this.#engine.resume(id);
    return true;
  }

  #expected(): string[] {
    const state = new Map<string, number>();
    for (const [name, value] of this.#steps.flatMap(({ writes }) => writes)) {
      if (value === null) state.delete(name);
      else state.set(name, value);
    }
    return [...state].map(([name, value]) => `${name}=${value}`).sort();
  }

  async check(): Promise<void> {
    expect(this.#open.nextStep).toBe(this.#steps.length + 1);
    expect(this.#standing.size).toBe(this.#steps.filter(({ books }) => books).length);
    expect(await this.#open.step("get", {})).toMatchObject({ output: this.#expected() });
    this.#steps.push({ writes: [], books: false });
  }

  async finish(): Promise<void> {
    if (this.#open.status === "ACTIVE") await this.#open.commit();
    const entries = await this.#store.scan();
    const stored = entries.map((one) => `${Buffer.from(one.key)}=${Buffer.from(one.value)}`);
    expect(stored).toEqual(this.#expected());
    expect(this.#standing.size).toBe(this.#steps.filter(({ books }) => books).length);
    expect(await this.#store.openTransactions()).toEqual([]);
  }
}
