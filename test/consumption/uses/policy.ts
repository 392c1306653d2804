// A program that uses @agenttx/policy alone: no other package of ours is imported.
import { equal } from "node:assert/strict";
import { DEFAULT_POLICY, DependencyGraph, decide, initialCounters } from "@agenttx/policy";

const { decision } = decide({
  policy: DEFAULT_POLICY,
  counters: initialCounters(),
  graph: new DependencyGraph(),
  step: 3,
  key: null,
});
equal(decision.strategy, "LOCAL_BACKTRACK");
equal(decision.rollbackToStep, 2);
