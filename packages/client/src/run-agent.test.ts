// Goal: the agent sees what still counts, what failures taught, and is stopped when it never ends.
import type { StepOutcome } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { type AgentMemory, type AgentTransaction, runAgent } from "./run-agent.js";

const learnt = { category: "not_found", key: "id", rule: "r", text: "Hint: id" };

function success(step: number): StepOutcome {
  return {
    status: "SUCCESS",
    step,
    output: step,
    nextStep: step + 1,
    constraints: [],
    repeated: false,
  };
}

function rollback(step: number, nextStep: number): StepOutcome {
  const decision = { strategy: "LOCAL_BACKTRACK", rollbackToStep: nextStep, nextStep } as never;
  return {
    status: "ROLLBACK_TRIGGERED",
    step,
    hint: learnt as never,
    strategy: "LOCAL_BACKTRACK",
    rollbackToStep: nextStep,
    nextStep,
    contextReset: false,
    decision,
    constraints: [learnt],
    writesReverted: 0,
    compensationsRun: 0,
    compensationErrors: [],
    rollbackLatencyMs: 0,
    repeated: false,
  };
}

/** Answers in order; counts commits and aborts. */
function transaction(answers: StepOutcome[]) {
  const ends: string[] = [];
  const tx: AgentTransaction = {
    nextStep: 1,
    step: async () => answers.shift() ?? success(1),
    commit: async () => ends.push("commit"),
    abort: async (reason) => ends.push(`abort ${reason}`),
  };
  return { tx, ends };
}

const act = { kind: "step", tool: "t", args: {} } as const;

describe("runAgent", () => {
  it("forgets rewound steps and carries the constraints", async () => {
    const { tx, ends } = transaction([success(1), success(2), rollback(3, 2), success(2)]);
    const seen: AgentMemory[] = [];
    const run = await runAgent(tx, (memory) => {
      seen.push(memory);
      return seen.length < 5 ? act : { kind: "commit" };
    });
    expect(seen.map(({ steps }) => steps.map(({ step }) => step))).toEqual([
      [],
      [1],
      [1, 2],
      [1],
      [1, 2],
    ]);
    expect(seen[3]?.constraints).toEqual([learnt]);
    expect(seen[3]?.last?.status).toBe("ROLLBACK_TRIGGERED");
    expect([run.end, run.stepsRun, ends]).toEqual(["committed", 4, ["commit"]]);
  });

  it("ends with a transaction that failed or froze, and aborts an agent that never ends", async () => {
    const failed = { ...rollback(1, 0), status: "FAILED", transactionStatus: "FROZEN" } as never;
    expect((await runAgent(transaction([failed]).tx, () => act)).end).toBe("frozen");
    const endless = transaction([]);
    const run = await runAgent(endless.tx, () => act, { stepsMax: 3 });
    expect([run.end, run.stepsRun, endless.ends]).toEqual(["aborted", 3, ["abort too many steps"]]);
  });
});
