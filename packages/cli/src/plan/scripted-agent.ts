// Owns the scripted agent: it knows a plan and the hints it was given, and decides what to call at
// a step. No clock, no randomness: the same plan and hints give the same calls.

import type { JsonObject } from "@agenttx/model";
import type { Plan, PlanAlternative } from "./schema.js";

/** What a hint said, as far as an agent may choose by it. */
export interface LearnedHint {
  readonly category: string;
  readonly key: string | null;
  readonly keys?: readonly string[];
}

/** The call the agent makes at a step. */
export interface Choice {
  readonly tool: string;
  readonly args: JsonObject;
  /** What the agent says about it; "" when the plan says nothing. */
  readonly say: string;
  /** 0 for the plan's own decision, else the 1-based number of the alternative. */
  readonly alternative: number;
}

export class ScriptedAgent {
  readonly #plan: Plan;
  readonly #hints: LearnedHint[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  get stepCount(): number {
    return this.#plan.decisions.length;
  }

  /** Remembers a hint; it is never forgotten, also not over a global reset. */
  learn(hint: LearnedHint): void {
    this.#hints.push(hint);
  }

  /**
   * What to call at this step, or null when the plan is done. Of the alternatives whose `when` holds
   * the last one is taken, so a plan lists them from the first idea to the last.
   */
  choose(step: number): Choice | null {
    const decision = this.#plan.decisions[step - 1];
    if (decision === undefined) return null;
    const alternative = decision.alternatives.findLastIndex((other) => this.#holds(other.when));
    const chosen = decision.alternatives[alternative];
    return {
      tool: chosen?.tool ?? decision.tool,
      args: chosen?.args ?? decision.args,
      say: chosen?.say ?? decision.say ?? "",
      alternative: alternative + 1,
    };
  }

  #holds(when: PlanAlternative["when"]): boolean {
    const matching = this.#hints.filter(
      (hint) =>
        (when.category === undefined || hint.category === when.category) &&
        (when.key === undefined || names(hint, when.key)),
    );
    return matching.length >= (when.times ?? 1);
  }
}

function names(hint: LearnedHint, key: string): boolean {
  const wanted = key.toLowerCase();
  return [hint.key, ...(hint.keys ?? [])].some((name) => name?.toLowerCase() === wanted);
}
