// Owns the simulated owners of a drill (C11): tools with the shape of the real ones that never call
// anything outside. How each behaves is a setting; what they do is counted.

import type { Clock } from "@agenttx/engine";
import { defineTool, type ToolShape } from "@agenttx/engine";
import type { ArgumentSchema, EffectRecord, JsonObject } from "@agenttx/model";

/**
 * `healthy` answers and does. `slow` does, late. `failing` refuses. `silent` never answers. `wrong`
 * says that it undid, and did not: only a verification notices.
 */
export type OwnerBehaviour = "healthy" | "slow" | "failing" | "silent" | "wrong";

export interface DrillOwners {
  /** Behaviour of every tool that `byTool` does not name. Default `healthy`. */
  readonly others?: OwnerBehaviour;
  readonly byTool?: Readonly<Record<string, OwnerBehaviour>>;
}

export interface DrillTool {
  readonly name: string;
  readonly behaviour: OwnerBehaviour;
  /** A wrong answer of this tool would be noticed. */
  readonly verified: boolean;
  readonly calls: number;
}

const ANY: ArgumentSchema<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "agenttx-drill",
    // Recorded arguments passed the real schema once.
    validate: (value) => ({ value: value as JsonObject }),
  },
};

/** One simulated tool; `real` gives its shape: what it declares, not what it does. */
export function simulatedTool(
  record: Pick<EffectRecord, "tool" | "effectClass">,
  real: ToolShape | null,
  behaviour: OwnerBehaviour,
  world: {
    readonly clock: Clock;
    readonly slowMs: number;
    readonly undoActions: ReadonlySet<string>;
  },
): { readonly tool: ToolShape; readonly facts: () => DrillTool } {
  const { tool: name, effectClass } = record;
  const undone = new Set<string>();
  const state = { calls: 0 };
  const answer = async <Result>(signal: AbortSignal, result: () => Result): Promise<Result> => {
    state.calls += 1;
    if (behaviour === "failing") throw new Error("the simulated owner is failing");
    if (behaviour === "silent") await untilAborted(signal);
    if (behaviour === "slow") await later(world.clock, world.slowMs, signal);
    return result();
  };
  const undo = (key: string): void => {
    if (behaviour !== "wrong") undone.add(key);
  };
  const actions = [...world.undoActions].filter((action) => action !== "compensate");
  const verified = real === null || Reflect.get(real, "verify") !== undefined;
  const tool = defineTool({
    name,
    schema: ANY,
    effect: effectClass === "read-only" ? "read-only" : effectClass,
    ...(effectClass === "irreversible"
      ? { irreversible: { pivot: true, forwardRecovery: "See the real tool." } as const }
      : {}),
    execute: () => {
      throw new Error("a drill executes nothing");
    },
    lookup: ({ idempotencyKey }, { signal }) =>
      answer(signal, () =>
        undone.has(idempotencyKey)
          ? ({ status: "absent", final: true } as const)
          : ({ status: "landed" } as const),
      ),
    ...(effectClass !== "reversible"
      ? {}
      : {
          compensate: (_call, { idempotencyKey, signal }) =>
            answer(signal, () => undo(idempotencyKey)),
          undo: Object.fromEntries(
            actions.map((action) => [
              action,
              (_args: unknown, context: { idempotencyKey: string; signal: AbortSignal }) =>
                answer(context.signal, () => undo(context.idempotencyKey)),
            ]),
          ),
          ...(verified
            ? {
                verify: (_call, { idempotencyKey, signal }) =>
                  answer(signal, () => undone.has(idempotencyKey)),
              }
            : {}),
        }),
  });
  return { tool, facts: () => ({ name, behaviour, verified, calls: state.calls }) };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error("no answer"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function later(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(ms, resolve);
    const stop = (): void => {
      cancel();
      reject(new Error("stopped"));
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
