// Owns one run of one workload: its trials, and the result object with everything that a reader
// needs to judge it.
import { judge } from "../goals.mjs";
import { machine, revision, versions } from "./machine.mjs";
import { newDirectory, removeDirectory, runTrial } from "./trial.mjs";

/** In the order of a full run. */
export const WORKLOADS = [
  "restore",
  "step",
  "commit",
  "durable",
  "throughput",
  "hints",
  "policy",
  "memory",
  "start",
  "session",
  "soak",
];

/** Runs the workload and returns its result object. Throws when it measured a wrong result. */
export async function runWorkload(name, options) {
  const module = new URL(`../workloads/${name}.mjs`, import.meta.url).href;
  const workload = await import(module);
  const about = { machine: machine(), versions: versions(), revision: revision() };
  const started = Date.now();
  process.stderr.write(`bench: ${name} (${workload.title})\n`);
  const answer = await workload.run(toolsFor(module, options));
  const { ratios, figures, quietRatios = {}, series, problem = null } = answer;
  return {
    name,
    title: workload.title,
    mode: options.quick ? "quick" : options.long ? "long" : "normal",
    seed: options.seed,
    measuredAt: new Date(started).toISOString(),
    seconds: Math.round((Date.now() - started) / 100) / 10,
    ...about,
    durability: workload.drivers,
    unit: workload.unit ?? "us",
    ratios,
    quietRatios,
    figures,
    // Samples over time, of a workload that has them.
    ...(series === undefined ? {} : { series }),
    /** Why the result is not what it must be; null when nothing is wrong. */
    problem,
    goals: judge(name, ratios),
  };
}

/** What a workload's `run` gets. */
function toolsFor(module, { long, quick, seed, minutes }) {
  return {
    long,
    quick,
    minutes,
    pick: (values) =>
      quick ? values.quick : long ? (values.long ?? values.normal) : values.normal,
    /** Answers of `count` runs of a trial, each in a process and directory of its own. */
    async trials(trial, count, params, { directory, killed = false } = {}) {
      const answers = [];
      for (let index = 0; index < count; index += 1) {
        process.stderr.write(
          `  ${trial} ${JSON.stringify(params)}, process ${index + 1}/${count}\n`,
        );
        const own = { ...params, seed: seed + index };
        answers.push(await runTrial({ module, trial, params: own, directory, killed }));
      }
      return answers;
    },
    /** For trials that build on what another left on disk. */
    async inOneDirectory(work) {
      const directory = await newDirectory();
      try {
        return await work(directory);
      } finally {
        await removeDirectory(directory);
      }
    },
  };
}
