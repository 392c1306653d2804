// Owns the policy workload: one decision with a dependency graph of 1,000 steps and 10,000 edges,
// and what building such a graph costs per step.
import { strictEqual } from "node:assert/strict";
import { DEFAULT_POLICY, DependencyGraph, decide, initialCounters } from "@agenttx/policy";
import { Bench } from "tinybench";
import { seeded } from "../harness/random.mjs";
import { median, pooled, round } from "../harness/samples.mjs";
import { timed } from "../harness/timing.mjs";

export const title = "Policy: how far back";
export const drivers = { "decide (pure, in memory)": "none" };

const STEPS = 1_000;
const EDGES_PER_STEP = 10;
/** Step that every chain starts at: the root cause. */
const ROOT = 2;

export const trials = { decide: decideTrial };

export async function run(bench) {
  const results = await bench.trials("decide", bench.pick({ quick: 1, normal: 3, long: 6 }), {
    rounds: bench.pick({ quick: 2, normal: 5, long: 20 }),
    timeMs: bench.pick({ quick: 20, normal: 200, long: 500 }),
  });
  const of = (name) => median(results.flatMap((trial) => trial[name]));
  return {
    ratios: {
      millisDecision: round(of("decision p50") / 1_000),
      millisFirst: round(of("first decision") / 1_000),
    },
    figures: { [`${STEPS} steps`]: pooled(results) },
  };
}

async function decideTrial({ seed, rounds, timeMs }) {
  const samples = {
    "decision p50": [],
    "decision p99": [],
    "first decision": [],
    "adding a step": [],
  };
  for (let index = 0; index < rounds; index += 1) {
    let graph = null;
    const built = await timed(() => {
      graph = buildGraph(seeded(seed + index));
    });
    samples["adding a step"].push(built / STEPS);
    samples["first decision"].push(await timed(() => decideOnce(graph)));
    const loop = new Bench({ time: timeMs }).add("decide", () => decideOnce(graph));
    const [{ result }] = await loop.run();
    if (result.state !== "completed") throw new Error(`decide: ${result.state}`);
    samples["decision p50"].push(result.latency.p50 * 1_000);
    samples["decision p99"].push(result.latency.p99 * 1_000);
  }
  return samples;
}

/** Each step uses an id that goes back to ROOT through the steps before, and nine other outputs. */
function buildGraph(random) {
  const graph = new DependencyGraph();
  let edges = 0;
  for (let step = 1; step <= STEPS; step += 1) {
    const references = [];
    const inputs = { note: `step ${step}` };
    if (step > ROOT) {
      const from = Math.max(ROOT, step - 1 - Math.floor(random() * 10));
      references.push({ from, outputPath: "customer_id", inputPath: "customer_id" });
      inputs.customer_id = "c-1";
      for (let edge = 1; edge < EDGES_PER_STEP + 1 && edge < step; edge += 1) {
        const other = Math.max(1, step - 1 - Math.floor(random() * 200));
        references.push({ from: other, outputPath: `out_${edge}`, inputPath: `in_${edge}` });
        inputs[`in_${edge}`] = `v-${other}-${edge}`;
      }
    }
    graph.addStep({ step, tool: "bench", inputs, references });
    edges += references.length;
    graph.recordOutput(step, outputOf(step));
  }
  if (edges < STEPS * EDGES_PER_STEP) throw new Error(`The graph has ${edges} edges only`);
  return graph;
}

function outputOf(step) {
  const output = step >= ROOT ? { customer_id: "c-1" } : {};
  for (let edge = 1; edge <= EDGES_PER_STEP; edge += 1) output[`out_${edge}`] = `v-${step}-${edge}`;
  return output;
}

function decideOnce(graph) {
  const { decision } = decide({
    policy: { ...DEFAULT_POLICY, replayBudgetFactor: 1_000 },
    counters: initialCounters(),
    graph,
    step: STEPS,
    key: "customer_id",
  });
  strictEqual(decision.strategy, "DEPENDENCY_JUMP");
  strictEqual(decision.rollbackToStep, ROOT);
  return decision;
}
