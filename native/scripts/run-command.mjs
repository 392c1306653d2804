// Owns how the build starts other programs: niced, output captured, shown in full when one fails.
import { spawn } from "node:child_process";

/** A program of the build failed; `message` is all that a person needs to see. */
export class BuildError extends Error {}

/**
 * Runs `command` with lower priority. `onStart` gets its pid, `onLine` sees each line of stdout as
 * it comes. Rejects with a BuildError that holds the end of the output when the program fails.
 */
export function runCommand(command, args, { cwd, env, onStart, onLine } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn("nice", ["-n", "10", command, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) onStart?.(child.pid);
    const lines = [];
    const take = (stream, listener) => {
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk) => {
        const parts = (rest + chunk).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) {
          lines.push(line);
          if (lines.length > 400) lines.shift();
          listener?.(line);
        }
      });
      stream.on("end", () => rest !== "" && lines.push(rest));
    };
    take(child.stdout, onLine);
    take(child.stderr);
    child.on("error", (error) => reject(new BuildError(`${command}: ${error.message}`)));
    child.on("close", (status, signal) => {
      if (status === 0) return resolve();
      const how = signal === null ? `exit ${status}` : signal;
      reject(new BuildError(`${lines.join("\n")}\n${command} ${args.join(" ")}: ${how}`));
    });
  });
}
