// Owns running one trial: a fresh process and a fresh directory, removed afterwards whatever
// happened. The parent runs nothing heavy itself.
import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));

/**
 * Runs `trial` of the workload at `module` (a URL) and returns its answer. `params` gets the
 * `directory`; with `killed` the process ends as by kill -9 once it has answered. Throws what the
 * trial threw: a wrong result is no measurement.
 */
export async function runTrial(options) {
  const { module, trial, params, directory, killed = false } = options;
  const own = directory ?? (await newDirectory());
  try {
    const task = { module, trial, params: { ...params, directory: own }, killed };
    return await inChild(task);
  } finally {
    if (directory === undefined) await removeDirectory(own);
  }
}

export function newDirectory() {
  return mkdtemp(join(tmpdir(), "agenttx-bench-"));
}

export function removeDirectory(directory) {
  return rm(directory, { recursive: true, force: true });
}

function inChild(task) {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [], {
      execArgv: ["--expose-gc", ...profileArguments()],
      serialization: "advanced",
      // What a trial prints is progress: stdout belongs to the result.
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    child.stdout.pipe(process.stderr);
    let message = null;
    child.once("message", (received) => {
      message = received;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (message?.answer !== undefined) resolve(message.answer);
      else reject(new Error(failureText(task, message, code ?? signal)));
    });
    child.send(task);
  });
}

/** `BENCH_CPU_PROFILE=<folder>` writes a profile of every trial there. */
function profileArguments() {
  const folder = process.env.BENCH_CPU_PROFILE;
  return folder ? ["--cpu-prof", `--cpu-prof-dir=${folder}`] : [];
}

function failureText(task, message, end) {
  const why = message?.failure ?? `the process ended with ${end} and no answer`;
  return `Trial ${task.trial} failed: ${why}`;
}
