// Owns running the bench command as a process.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const RUN = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function bench(...args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [RUN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function lastLine(text: string): unknown {
  return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
}
