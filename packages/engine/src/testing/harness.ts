// Owns what engine tests start from: a memory store, a fake clock, numbered ids, simple tools and a
// world that counts what happened in it.
import type { JsonValue, Store } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import { defineTool } from "../define-tool.js";
import { createEngine, type Engine } from "../engine.js";
import type { EngineOptions } from "../engine-options.js";
import type { EngineEvent } from "../ports.js";
import type { ToolShape } from "../tool-types.js";
import { FakeClock } from "./fake-clock.js";
import { fields } from "./schema.js";

export const text = (value: string): Uint8Array => Buffer.from(value);

export const put = defineTool({
  name: "put",
  schema: fields({ key: "string", value: "any" }),
  effect: "reversible",
  scope: "store",
  execute({ key, value }, { state }) {
    state.put(key, text(JSON.stringify(value)));
    return { key };
  },
});

export const del = defineTool({
  name: "del",
  schema: fields({ key: "string" }),
  effect: "reversible",
  scope: "store",
  execute({ key }, { state }) {
    state.delete(key);
    return { key };
  },
});

export const get = defineTool({
  name: "get",
  schema: fields({ key: "string" }),
  effect: "read-only",
  scope: "store",
  async execute({ key }, { state }) {
    const bytes = await state.get(key);
    return {
      value: bytes === null ? null : (JSON.parse(Buffer.from(bytes).toString()) as JsonValue),
    };
  },
});

/** Gives back the `output` it is given; `fail` makes it throw that text. */
export const echo = defineTool({
  name: "echo",
  schema: fields({ output: "any?", fail: "string?", customer_id: "any?", order: "any?" }),
  effect: "read-only",
  scope: "store",
  retry: 0,
  execute({ output, fail }) {
    if (fail !== undefined) throw new Error(fail);
    return (output ?? null) as JsonValue;
  },
});

/** What happened outside, by effect: done and undone, in order. */
export class World {
  readonly log: string[] = [];
  /** Bookings that stand, by idempotency key: what the other side's own database would hold. */
  readonly standing = new Map<string, string>();

  /** A reversible tool that books `item` and can be asked; `mode` makes it go wrong. */
  book() {
    const { log, standing } = this;
    return defineTool({
      name: "book",
      schema: fields({ item: "string", mode: "string?", from: "any?" }),
      effect: "reversible",
      execute({ item, mode }, { idempotencyKey }) {
        if (mode === "throw") throw new Error(`cannot book ${item}`);
        if (!standing.has(idempotencyKey)) {
          log.push(`do ${item}`);
          standing.set(idempotencyKey, item);
        }
        if (mode === "half") throw new Error(`half way: ${item}`);
        return { booking: item };
      },
      compensate({ args }, { idempotencyKey }) {
        if (standing.delete(idempotencyKey)) log.push(`undo ${args.item}`);
      },
      lookup({ args, idempotencyKey }) {
        if (!standing.has(idempotencyKey)) return { status: "absent", final: true };
        return { status: "landed", output: { booking: args.item } };
      },
    });
  }

  /** An irreversible tool whose effect is staged until commit. */
  mail() {
    const { log } = this;
    return defineTool({
      name: "mail",
      schema: fields({ to: "string" }),
      effect: "irreversible",
      irreversible: "staged",
      execute({ to }) {
        log.push(`mail ${to}`);
        return { sent: true };
      },
    });
  }
}

export interface Harness<Tools extends readonly ToolShape[]> {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly engine: Engine<Tools>;
  readonly events: EngineEvent[];
  /** A second engine on the same store, as after a restart of the process. */
  readonly restart: (options?: Partial<EngineOptions<Tools>>) => Promise<Engine<Tools>>;
}

let ids = 0;

export function harness<const Tools extends readonly ToolShape[]>(
  tools: Tools,
  options: Partial<EngineOptions<Tools>> = {},
): Harness<Tools> {
  const store = options.store ?? openMemoryStore();
  const clock = new FakeClock();
  const events: EngineEvent[] = [];
  const base: EngineOptions<Tools> = {
    store,
    tools,
    clock,
    ids: { transactionId: () => `tx-${String(++ids).padStart(6, "0")}` },
    observer: { onEvent: (event) => events.push(event) },
    ...options,
  };
  return {
    store,
    clock,
    events,
    engine: createEngine(base),
    async restart(more = {}) {
      // Handles of the engine before become stale, as if its process had died.
      await store.reopen();
      return createEngine({ ...base, ...more });
    },
  };
}

/** A reference to a step's output, as the agent writes it. */
export function ref(step: number, path: string): `\${steps.${string}}` {
  return `\${steps.${step}.${path}}`;
}
