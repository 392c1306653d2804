// Only the decision: how far back, and why. No store, no tools, no clock; also runs in a browser.
import { DEFAULT_POLICY, DependencyGraph, decide, initialCounters } from "@agenttx/policy";

const graph = new DependencyGraph();
graph.addStep({ step: 1, tool: "customers.search", inputs: { name: "Ada" }, references: [] });
graph.recordOutput(1, { customer_id: 1007 });
graph.addStep({ step: 2, tool: "stock.count", inputs: { sku: "KB-75" }, references: [] });
graph.recordOutput(2, { free: 20 });
graph.addStep({
  step: 3,
  tool: "orders.insert",
  inputs: { customer_id: 1007, quantity: 2 },
  references: [{ from: 1, outputPath: "customer_id", inputPath: "customer_id" }],
});

// Step 3 failed, and its hint blames `customer_id`: step 1 produced it.
const policy = DEFAULT_POLICY;
const first = decide({ policy, counters: initialCounters(), graph, step: 3, key: "customer_id" });
console.log(`${first.decision.strategy} to step ${first.decision.rollbackToStep}`);
console.log(`costs ${first.decision.replayCost} steps, ${first.decision.reason.budgetLeft} left`);

// It fails again, and this time the hint blames nothing: the nearest step is tried again.
const second = decide({ policy, counters: first.counters, graph, step: 3, key: null });
console.log(`${second.decision.strategy} to step ${second.decision.rollbackToStep}`);
