// Owns the agent loop: ask for a decision, send it as the next step, forget what was rewound, carry
// the constraints. The model stays the caller's business.

import type { Constraint, JsonObject, StepOutcome } from "@agenttx/model";

/** What the agent wants to do now. */
export type AgentAction =
  | {
      readonly kind: "step";
      readonly tool: string;
      readonly args: JsonObject;
      readonly rawContext?: string;
    }
  | { readonly kind: "commit" }
  | { readonly kind: "abort"; readonly reason: string };

/** What the agent may look at: the steps that still count, in order, and what failures taught. */
export interface AgentMemory {
  readonly steps: readonly {
    readonly step: number;
    readonly action: AgentAction;
    readonly outcome: StepOutcome;
  }[];
  readonly constraints: readonly Constraint[];
  /** The outcome just before, also a rollback; null at the start. */
  readonly last: StepOutcome | null;
}

/** The part of a transaction handle that the loop uses; embedded and client handles both fit. */
export interface AgentTransaction {
  readonly nextStep: number;
  step(
    tool: string,
    args: JsonObject,
    options?: { readonly rawContext?: string },
  ): Promise<StepOutcome>;
  commit(): Promise<unknown>;
  abort(reason?: string): Promise<unknown>;
}

export interface AgentRun {
  readonly end: "committed" | "aborted" | "failed" | "frozen";
  readonly memory: AgentMemory;
  readonly stepsRun: number;
}

/**
 * Runs until the agent commits or aborts, or the transaction fails or freezes. The policy bounds
 * how often failures are replayed; `stepsMax` (default 1,000) bounds an agent that never ends.
 */
export async function runAgent(
  tx: AgentTransaction,
  decide: (memory: AgentMemory) => Promise<AgentAction> | AgentAction,
  options: { readonly stepsMax?: number } = {},
): Promise<AgentRun> {
  let memory: AgentMemory = { steps: [], constraints: [], last: null };
  for (let stepsRun = 0; ; ) {
    const action = await decide(memory);
    if (action.kind === "commit") {
      await tx.commit();
      return { end: "committed", memory, stepsRun };
    }
    if (action.kind === "abort" || stepsRun >= (options.stepsMax ?? 1_000)) {
      await tx.abort(action.kind === "abort" ? action.reason : "too many steps");
      return { end: "aborted", memory, stepsRun };
    }
    const { rawContext } = action;
    const outcome = await tx.step(
      action.tool,
      action.args,
      rawContext === undefined ? {} : { rawContext },
    );
    stepsRun += 1;
    memory = remember(memory, action, outcome);
    if (outcome.status === "FAILED") {
      const end = outcome.transactionStatus === "FROZEN" ? "frozen" : "failed";
      return { end, memory, stepsRun };
    }
  }
}

/** Steps at or after the next one were rewound: the agent must not see them as done. */
function remember(memory: AgentMemory, action: AgentAction, outcome: StepOutcome): AgentMemory {
  const { constraints } = outcome;
  if (outcome.status === "SUCCESS") {
    const steps = [...memory.steps, { step: outcome.step, action, outcome }];
    return { steps, constraints, last: outcome };
  }
  const steps = memory.steps.filter((entry) => entry.step < outcome.nextStep);
  return { steps, constraints, last: outcome };
}
