// Owns the world of the recovery tests: an order that reserves stock, books a carrier and captures a
// payment, each with an owner outside who knows idempotency keys and outlives every process.

import { createEngine, defineTool, type Engine, type ToolShape } from "@agenttx/engine";
import type { LookupResult, Store, UndoResult } from "@agenttx/model";
import {
  createRecovery,
  defineInvariant,
  type Recovery,
  type RecoveryOptions,
} from "@agenttx/recovery";
import { fakeClock, openMemoryStore } from "@agenttx/testkit";
import { z } from "zod";

/** `silent`: what is asked of it happens, and it answers nothing any more. */
export type Mode = "healthy" | "unreachable" | "silent";

/** One owner outside: what it did and undid, and how it behaves. */
export class Owner {
  readonly done = new Map<string, number>();
  readonly undone = new Map<string, number>();
  readonly calls: string[] = [];
  /** Keys that were voided by a lookup: they can never land any more. */
  readonly voided = new Set<string>();
  /** Undo is refused: the parcel was collected. */
  collected = false;
  mode: Mode = "healthy";
  /** Called before each call, and after it with the answer that is about to be given. */
  hook: ((call: string, when: "before" | "after") => Promise<void> | void) | null = null;

  do(key: string): void {
    if (this.voided.has(key)) throw new Error("the key was voided");
    if (!this.done.has(key)) this.done.set(key, 1);
  }

  undo(key: string): UndoResult {
    if (!this.stands(key)) return { status: "already-undone" };
    if (this.collected) return { status: "dirty", expected: "booked", found: "collected" };
    this.undone.set(key, (this.undone.get(key) ?? 0) + 1);
    return { status: "undone" };
  }

  stands(key: string): boolean {
    return this.done.has(key) && !this.undone.has(key);
  }

  standing(): readonly string[] {
    return [...this.done.keys()].filter((key) => this.stands(key));
  }

  find(key: string): LookupResult {
    if (this.done.has(key)) return { status: "landed", output: { ref: key } };
    this.voided.add(key);
    return { status: "absent", final: true };
  }

  async call<Result>(name: string, work: () => Result): Promise<Result> {
    this.calls.push(name);
    await this.hook?.(name, "before");
    if (this.mode === "unreachable") throw new Error("connect ECONNREFUSED");
    if (this.mode === "silent" && !name.endsWith(".execute")) throw new Error("no answer");
    const result = work();
    if (this.mode === "silent") return new Promise<never>(() => undefined);
    await this.hook?.(name, "after");
    return result;
  }
}

const order = z.strictObject({ order: z.string(), uses: z.unknown().optional() });

function effectful(name: string, owner: Owner, more: Partial<ToolShape> = {}) {
  return {
    ...defineTool({
      name,
      schema: order,
      effect: "reversible",
      deadlineMs: 1_000,
      execute: (_args, { idempotencyKey }) =>
        owner.call(`${name}.execute`, () => {
          owner.do(idempotencyKey);
          return { ref: idempotencyKey };
        }),
      compensate: (_call, { idempotencyKey }) =>
        owner.call(`${name}.compensate`, () => owner.undo(idempotencyKey)),
      lookup: ({ idempotencyKey }) =>
        owner.call(
          `${name}.lookup`,
          () => owner.find(idempotencyKey) as LookupResult<{ ref: string }>,
        ),
      verify: (_call, { idempotencyKey }) =>
        owner.call(`${name}.verify`, () => !owner.stands(idempotencyKey)),
    }),
    ...more,
  };
}

export interface OrderWorld {
  readonly stock: Owner;
  readonly carrier: Owner;
  readonly bank: Owner;
  readonly mails: string[];
  readonly tools: readonly ToolShape[];
}

export function orderWorld(): OrderWorld {
  const [stock, carrier, bank] = [new Owner(), new Owner(), new Owner()];
  const mails: string[] = [];
  const put = defineTool({
    name: "put",
    schema: z.strictObject({ key: z.string(), value: z.string() }),
    effect: "reversible",
    scope: "store",
    execute({ key, value }, { state }) {
      state.put(key, Buffer.from(value));
      return null;
    },
  });
  const mail = defineTool({
    name: "mail",
    schema: order,
    effect: "irreversible",
    irreversible: "staged",
    execute(_args, { idempotencyKey }) {
      if (!mails.includes(idempotencyKey)) mails.push(idempotencyKey);
      return null;
    },
  });
  const pivot = defineTool({
    name: "label.print",
    schema: order,
    effect: "irreversible",
    irreversible: { pivot: true, forwardRecovery: "Tear the label up and note it." },
    execute: () => ({ printed: true }),
  });
  const tools = [
    effectful("stock.reserve", stock),
    effectful("carrier.book", carrier),
    effectful("bank.capture", bank),
    effectful("carrier.ask", carrier, {
      compensation: "ask",
      owner: "logistics",
    } as Partial<ToolShape>),
    put,
    mail,
    pivot,
  ];
  return { stock, carrier, bank, mails, tools };
}

export interface House {
  readonly store: Store;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly engine: Engine<readonly ToolShape[]>;
  readonly recovery: Recovery;
}

/** A process: engine and recovery on the store. */
export function house(
  world: OrderWorld,
  store: Store = openMemoryStore(),
  more: Partial<RecoveryOptions> = {},
  clock = fakeClock(),
): House {
  const engine = createEngine({ store, tools: world.tools, clock, effects: { inlineTries: 1 } });
  const recovery = createRecovery({ engine, store, clock, ...more });
  return { store, clock, engine, recovery };
}

/** An order never has a booking without a reservation. */
export const bookedImpliesReserved = defineInvariant("booked implies reserved", async (view) => {
  const booked = await view.get("booking");
  const reserved = await view.get("reservation");
  return booked === null || reserved !== null || "a booking without a reservation";
});

/** Text of a committed key, or null. */
export async function textOf(store: Store, key: string): Promise<string | null> {
  const value = await store.get(key);
  return value === null ? null : Buffer.from(value).toString();
}
