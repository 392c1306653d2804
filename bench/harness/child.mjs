// Owns the child process of one trial: runs one function of one workload and reports its answer.
// Started by trial.mjs with the task as its only message; nothing else talks to it.

process.once("message", async (task) => {
  try {
    const workload = await import(task.module);
    const run = workload.trials[task.trial];
    if (run === undefined) throw new Error(`There is no trial ${task.trial}`);
    const answer = await run(task.params);
    // A crash leaves what a kill -9 leaves: nothing is closed, flushed or said.
    process.send({ answer }, () =>
      task.killed ? process.kill(process.pid, "SIGKILL") : process.disconnect(),
    );
  } catch (error) {
    const failure = error instanceof Error ? error.stack : String(error);
    process.send({ failure }, () => process.exit(1));
  }
});
