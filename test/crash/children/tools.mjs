// Owns the tools of a victim. Whatever they do outside goes to the world, which outlives them.
//
//   book    can be looked up       parts   registers an undo for each part before it does it
//   wire    cannot: unknown = one unresolved entry
import { defineTool } from "@agenttx/engine";
import { effectTools, jsonLinesSink, kvTools } from "@agenttx/tools";
import { z } from "zod";
import { point } from "./point.mjs";

const PARTS = ["a", "b", "c"];

export function crashTools(world, sinkPath) {
  return [
    ...kvTools({ prefix: "k/" }),
    ...effectTools({ sinks: { mail: pointedSink(jsonLinesSink({ path: sinkPath })) } }),
    bump,
    refuse,
    book(world),
    wire(world),
    parts(world),
  ];
}

function pointedSink(sink) {
  return {
    has: (key) => sink.has(key),
    async deliver(effect, signal) {
      await point("sink before");
      const answer = await sink.deliver(effect, signal);
      await point("sink after");
      return answer;
    },
  };
}

const bump = defineTool({
  name: "bump",
  schema: z.strictObject({ counter: z.string() }),
  effect: "reversible",
  scope: "store",
  async execute({ counter }, { state }) {
    const bytes = await state.get(`n/${counter}`);
    const count = bytes === null ? 1 : Number(Buffer.from(bytes).toString()) + 1;
    state.put(`n/${counter}`, Buffer.from(String(count)));
    return { count };
  },
});

const refuse = defineTool({
  name: "refuse",
  schema: z.strictObject({ field: z.string() }),
  effect: "read-only",
  execute({ field }) {
    throw new Error(`null value in column "${field}" violates not-null constraint`);
  },
});

const outsideArgs = z.strictObject({
  item: z.string(),
  delayMs: z.number().optional(),
  fail: z.boolean().optional(),
});

function outside(world, name, more) {
  return defineTool({
    name,
    schema: outsideArgs,
    effect: "reversible",
    deadlineMs: 100,
    async execute({ item, delayMs, fail }, { idempotencyKey }) {
      await point(`tool ${name} start`);
      const answer = await world.do(idempotencyKey, item, delayMs);
      await point(`tool ${name} landed`);
      if (answer !== "done" || fail === true) throw new Error(`the ${name} was refused`);
      return { item };
    },
    async compensate(_call, { idempotencyKey }) {
      await point(`undo ${name} start`);
      const status = await world.undo(idempotencyKey);
      await point(`undo ${name} done`);
      return { status };
    },
    ...more,
  });
}

const book = (world) =>
  outside(world, "book", {
    async lookup({ args, idempotencyKey }) {
      await point("lookup book");
      if (await world.landed(idempotencyKey)) {
        return { status: "landed", output: { item: args.item } };
      }
      return { status: "absent", final: true };
    },
  });

const wire = (world) => outside(world, "wire", {});

const parts = (world) =>
  defineTool({
    name: "parts",
    schema: outsideArgs,
    effect: "reversible",
    deadlineMs: 1_000,
    async execute({ item }, { idempotencyKey, registerUndo }) {
      for (const part of PARTS) {
        const key = `${idempotencyKey}+${part}`;
        await registerUndo("unpart", { key });
        await point("tool parts registered");
        const answer = await world.do(key, `${item}+${part}`);
        if (answer !== "done") throw new Error(`part ${part} was refused`);
      }
      return { item };
    },
    undo: {
      async unpart({ key }) {
        await point("undo parts start");
        const status = await world.undo(key);
        await point("undo parts done");
        return { status };
      },
    },
    // Some of it may have landed: the registered undo actions know what.
    lookup: () => ({ status: "landed" }),
  });
