// Owns effect.stage: an irreversible effect that leaves only after the commit (E7).

import { AgentTxError, type LookupResult } from "@agenttx/model";
import { z } from "zod";
import { tool } from "../tool.js";
import type { EffectSink } from "./sink.js";

export interface EffectOptions {
  /** Where effects can go, by the name the agent uses. At least one. */
  readonly sinks: Readonly<Record<string, EffectSink>>;
}

/** What a delivery answers. A type, not an interface: it has to be JSON. */
type Delivery = {
  readonly sink: string;
  readonly delivered: boolean;
  /** The sink had it already: an earlier delivery got through, its answer did not. */
  readonly duplicate: boolean;
};

/**
 * `effect.stage { sink, payload }` -> `{ sink, delivered, duplicate }`. Staged: nothing is sent
 * while the transaction is open; a rollback drops it, the commit sends it, at least once, with the
 * idempotency key. Throws TOOL_INVALID without a sink.
 */
export function effectTools(options: EffectOptions) {
  const sinks = new Map(Object.entries(options.sinks));
  if (sinks.size === 0) {
    throw new AgentTxError("TOOL_INVALID", "effect.stage needs at least one sink; none was given.");
  }
  const names = [...sinks.keys()];
  const sinkOf = (name: string): EffectSink => {
    const sink = sinks.get(name);
    // The schema lets known names through only; a deploy may have removed one since.
    if (sink === undefined) throw new Error(`there is no sink ${name}; known: ${names.join(", ")}`);
    return sink;
  };
  const stage = tool({
    name: "effect.stage",
    description: "Hands an effect to a sink once the transaction has committed",
    version: "1",
    schema: z.strictObject({ sink: z.enum(names), payload: z.json() }),
    effect: "irreversible",
    irreversible: "staged",
    execute: async (args, { idempotencyKey, transaction, step, signal }): Promise<Delivery> => {
      const effect = { idempotencyKey, transaction, step, payload: args.payload };
      const { duplicate } = await sinkOf(args.sink).deliver(effect, signal);
      return { sink: args.sink, delivered: true, duplicate };
    },
    lookup: async ({ args, idempotencyKey }): Promise<LookupResult<Delivery>> => {
      const sink = sinkOf(args.sink);
      if (sink.has === undefined) return { status: "unknown" };
      if (await sink.has(idempotencyKey)) {
        return { status: "landed", output: { sink: args.sink, delivered: true, duplicate: false } };
      }
      return { status: "absent", final: false };
    },
  });
  return [stage] as const;
}
