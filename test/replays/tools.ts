// Owns the tools of the replays: small ones, as the reports describe them.
import { defineTool } from "@agenttx/engine";
import { kvTools } from "@agenttx/tools";
import { z } from "zod";

export const kv = kvTools({ prefix: "" });

/** A reversible tool outside the store that counts; it knows idempotency keys and can be asked. */
export function outside<const Name extends string>(name: Name) {
  const log: string[] = [];
  const standing = new Map<string, string>();
  const tool = defineTool({
    name,
    schema: z.strictObject({ item: z.string(), fail: z.boolean().optional() }),
    effect: "reversible",
    execute({ item, fail }, { idempotencyKey }) {
      if (fail === true) throw new Error("the other side refused");
      log.push(`do ${item}`);
      standing.set(idempotencyKey, item);
      return { item };
    },
    compensate({ args }, { idempotencyKey }) {
      if (standing.delete(idempotencyKey)) log.push(`undo ${args.item}`);
    },
    lookup({ args, idempotencyKey }) {
      if (standing.has(idempotencyKey)) {
        return { status: "landed" as const, output: { item: args.item } };
      }
      return { status: "absent" as const, final: true };
    },
  });
  return { tool, log, standing };
}

/** A tool that answers when the test says so, and counts its runs. */
export function gated<const Name extends string>(name: Name) {
  const state = { runs: 0, open: (): void => undefined };
  const tool = defineTool({
    name,
    schema: z.strictObject({}),
    effect: "read-only",
    execute: () =>
      new Promise<{ run: number }>((resolve) => {
        state.runs += 1;
        const run = state.runs;
        state.open = () => resolve({ run });
      }),
  });
  return { tool, state };
}

/** Lets things happen until it is so; the test's own timeout ends a vain wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

export function decoded(bytes: Uint8Array | null): unknown {
  return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString());
}
