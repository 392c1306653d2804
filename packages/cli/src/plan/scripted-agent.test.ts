// Goal: the agent's calls follow from the plan and the hints alone.

import { describe, expect, it } from "vitest";
import { parsePlan } from "./schema.js";
import { ScriptedAgent } from "./scripted-agent.js";

const plan = parsePlan(
  {
    name: "p",
    decisions: [
      { tool: "reserve", args: { sku: "a" }, say: "first" },
      {
        tool: "search",
        args: { by: "name" },
        alternatives: [
          { when: { key: "customer_id" }, args: { by: "email" }, say: "by mail" },
          { when: { key: "customer_id", times: 2 }, tool: "ask", args: {} },
          { when: { category: "timeout", key: "stock" }, args: { by: "id" } },
        ],
      },
    ],
  },
  "p.json",
);

function agentWith(...hints: { category: string; key: string | null; keys?: string[] }[]) {
  const agent = new ScriptedAgent(plan);
  for (const hint of hints) agent.learn(hint);
  return agent;
}

const foreignKey = { category: "foreign_key_violation", key: "customer_id" };

describe("ScriptedAgent", () => {
  it("follows the plan while nothing was learnt, and ends with it", () => {
    const agent = agentWith();
    expect(agent.choose(1)).toEqual({
      tool: "reserve",
      args: { sku: "a" },
      say: "first",
      alternative: 0,
    });
    expect(agent.choose(2)).toMatchObject({ args: { by: "name" }, alternative: 0 });
    expect(agent.choose(3)).toBeNull();
  });

  it("takes the alternative that a hint's key names, ignoring case", () => {
    const agent = agentWith({ category: "other", key: "Customer_ID" });
    expect(agent.choose(2)).toMatchObject({ tool: "search", args: { by: "email" } });
  });

  it("finds the key among several, too", () => {
    const agent = agentWith({ category: "other", key: null, keys: ["order_id", "customer_id"] });
    expect(agent.choose(2)?.alternative).toBe(1);
  });

  it("goes to a later alternative when the hint comes again", () => {
    expect(agentWith(foreignKey, foreignKey).choose(2)).toMatchObject({ tool: "ask", args: {} });
  });

  it("needs category and key when both are named", () => {
    expect(agentWith({ category: "timeout", key: null }).choose(2)?.alternative).toBe(0);
    expect(agentWith({ category: "timeout", key: "stock" }).choose(2)?.alternative).toBe(3);
  });

  it("leaves decisions without a matching alternative as they are", () => {
    expect(agentWith(foreignKey).choose(1)?.alternative).toBe(0);
  });
});
