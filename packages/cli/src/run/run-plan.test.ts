// Goal: the loop follows the engine's answers and leaves nothing open. Method: a transaction that
// answers from a script and writes down what it was asked.

import type { CleanHint, JsonObject, RollbackOutcome, StepOutcome } from "@agenttx/model";
import { AgentTxError, WriteConflictError } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { parsePlan } from "../plan/schema.js";
import type { RunLine } from "./events.js";
import { type PlanTransaction, runPlan } from "./run-plan.js";

const plan = parsePlan(
  {
    name: "three steps",
    decisions: [
      { tool: "one" },
      {
        tool: "two",
        args: { by: "name" },
        alternatives: [{ when: { key: "id" }, args: { by: "mail" } }],
      },
      { tool: "three" },
    ],
  },
  "p.json",
);

const hint: CleanHint = {
  text: "Hint: `id` does not exist.",
  category: "not_found",
  key: "id",
  keys: ["id"],
  rule: "test",
  retryable: false,
  retryAfterMs: null,
  detail: null,
};

function success(step: number): StepOutcome {
  return {
    status: "SUCCESS",
    step,
    output: {},
    nextStep: step + 1,
    constraints: [],
    repeated: false,
  };
}

function rolledBack(step: number, nextStep: number): StepOutcome {
  return {
    status: "ROLLBACK_TRIGGERED",
    step,
    hint,
    strategy: "DEPENDENCY_JUMP",
    rollbackToStep: nextStep,
    nextStep,
    contextReset: false,
    constraints: [],
    decision: {
      strategy: "DEPENDENCY_JUMP",
      rollbackToStep: nextStep,
      nextStep,
      contextReset: false,
      replayCost: 2,
      reason: {
        rule: "R2",
        key: "id",
        producer: nextStep,
        path: [],
        failureNumber: 1,
        replayCost: 2,
        budget: 12,
        budgetLeft: 10,
        considered: [],
      },
    },
    writesReverted: 1,
    compensationsRun: 2,
    compensationErrors: [],
    rollbackLatencyMs: 1.5,
    repeated: false,
  };
}

function ended(transactionStatus: "FROZEN" | "FAILED", unresolvedEffects: string[]): StepOutcome {
  return {
    status: "FAILED",
    step: 2,
    hint,
    strategy: transactionStatus === "FAILED" ? "ABORT" : null,
    nextStep: 0,
    abortReason: "why",
    transactionStatus,
    unresolvedEffects,
    constraints: [],
    decision: null,
    compensationsRun: 1,
    compensationErrors: [],
    rollbackLatencyMs: 1,
    repeated: false,
  };
}

const aborted: RollbackOutcome = {
  rolledBack: true,
  status: "ROLLED_BACK",
  nextStep: 0,
  writesReverted: 0,
  compensationsRun: 3,
  compensationErrors: [],
  unresolvedEffects: [],
};

function scripted(
  answers: readonly (StepOutcome | Error)[],
  commitError: Error | null = null,
): PlanTransaction & { calls: string[] } {
  const calls: string[] = [];
  const queue = [...answers];
  return {
    id: "tx-1",
    calls,
    step: async (tool: string, args: JsonObject) => {
      calls.push(`${tool} ${JSON.stringify(args)}`);
      const answer = queue.shift();
      if (answer === undefined) throw new Error("asked for too much");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    commit: async () => {
      calls.push("commit");
      if (commitError !== null) throw commitError;
      return {
        status: "COMMITTED",
        commitVersion: 1n,
        stepsCommitted: 3,
        effectsDispatched: 1,
        effectsPending: 0,
        dispatchErrors: [],
      };
    },
    abort: async () => {
      calls.push("abort");
      return aborted;
    },
  };
}

describe("runPlan", () => {
  it("runs each decision once and commits", async () => {
    const transaction = scripted([success(1), success(2), success(3)]);
    const result = await runPlan({ plan, transaction });
    expect(transaction.calls).toEqual(["one {}", 'two {"by":"name"}', "three {}", "commit"]);
    expect(result).toMatchObject({
      status: "COMMITTED",
      exitCode: 0,
      stepsRun: 3,
      effectsDelivered: 1,
    });
  });

  it("counts the time of its lines from where the run began", async () => {
    const transaction = scripted([success(1), success(2), success(3)]);
    const lines: RunLine[] = [];
    let clock = 100;
    const now = () => clock++;
    await runPlan({ plan, transaction, emit: (line) => lines.push(line), now, beganAtMs: 40 });
    const times = lines.map((line) => line.elapsedMs);
    expect(times[0]).toBeGreaterThanOrEqual(60);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("goes on where the engine says, with the alternative the hint names", async () => {
    const transaction = scripted([
      success(1),
      success(2),
      rolledBack(3, 2),
      success(2),
      success(3),
    ]);
    const lines: RunLine[] = [];
    const result = await runPlan({ plan, transaction, emit: (line) => lines.push(line) });
    expect(transaction.calls).toEqual([
      "one {}",
      'two {"by":"name"}',
      "three {}",
      'two {"by":"mail"}',
      "three {}",
      "commit",
    ]);
    expect(result).toMatchObject({ status: "COMMITTED", stepsRun: 5, compensationsRun: 2 });
    expect(result.rollbacks).toEqual([
      expect.objectContaining({
        step: 3,
        strategy: "DEPENDENCY_JUMP",
        rollbackToStep: 2,
        key: "id",
      }),
    ]);
    expect(lines.filter((line) => line.type === "outcome")).toHaveLength(5);
  });

  it("reports an aborted transaction with 1 and a frozen one with 6, without another call", async () => {
    const failed = scripted([success(1), ended("FAILED", [])]);
    expect(await runPlan({ plan, transaction: failed })).toMatchObject({
      status: "FAILED",
      exitCode: 1,
    });
    const frozen = scripted([success(1), ended("FROZEN", ["e1"])]);
    expect(await runPlan({ plan, transaction: frozen })).toMatchObject({
      status: "FROZEN",
      exitCode: 6,
      unresolvedEffects: ["e1"],
    });
    expect([...failed.calls, ...frozen.calls]).not.toContain("commit");
    expect([...failed.calls, ...frozen.calls]).not.toContain("abort");
  });

  it("answers 6 when an aborted transaction leaves an effect behind", async () => {
    const transaction = scripted([ended("FAILED", ["e1"])]);
    expect((await runPlan({ plan, transaction })).exitCode).toBe(6);
  });

  it("stops before the next step when told to, and takes everything back", async () => {
    const stop = new AbortController();
    const transaction = scripted([success(1), success(2)]);
    const result = await runPlan({
      plan,
      transaction,
      signal: stop.signal,
      emit: (line) => line.type === "outcome" && stop.abort(),
    });
    expect(transaction.calls).toEqual(["one {}", "abort"]);
    expect(result).toMatchObject({ status: "ROLLED_BACK", exitCode: 130, compensationsRun: 3 });
  });

  it("leaves the transaction open when asked to, at the end or when stopped", async () => {
    const transaction = scripted([success(1), success(2), success(3)]);
    const result = await runPlan({ plan, transaction, keepOpen: true });
    expect(result).toMatchObject({ status: "OPEN", exitCode: 0 });
    expect(transaction.calls).toHaveLength(3);
    const stopped = scripted([]);
    const signal = AbortSignal.abort();
    expect(await runPlan({ plan, transaction: stopped, keepOpen: true, signal })).toMatchObject({
      status: "OPEN",
      exitCode: 130,
    });
  });

  it("aborts after a write conflict and answers 4", async () => {
    const conflict = new WriteConflictError([Buffer.from("k")]);
    const transaction = scripted([success(1), success(2), success(3)], conflict);
    const result = await runPlan({ plan, transaction });
    expect(result).toMatchObject({ status: "CONFLICT", exitCode: 4 });
    expect(transaction.calls.at(-1)).toBe("abort");
  });

  it("aborts and throws when the infrastructure fails", async () => {
    const transaction = scripted([success(1), new AgentTxError("STORE_POISONED", "full")]);
    await expect(runPlan({ plan, transaction })).rejects.toMatchObject({ code: "STORE_POISONED" });
    expect(transaction.calls.at(-1)).toBe("abort");
  });

  it("goes on with a resumed transaction at its step, with what it had learnt", async () => {
    const transaction = scripted([success(2), success(3)]);
    await runPlan({ plan, transaction, firstStep: 2, hints: [{ category: "x", key: "id" }] });
    expect(transaction.calls[0]).toBe('two {"by":"mail"}');
  });
});
