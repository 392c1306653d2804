// Runs `agenttx run … --json` as a process of its own and draws its lines as they come.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { painter, symbolsFor, Timeline } from "agenttx";

const require = createRequire(import.meta.url);
const BIN = join(dirname(require.resolve("agenttx/package.json")), "bin", "agenttx.js");
export const HERE = fileURLToPath(new URL("..", import.meta.url));

export const paint = painter(process.stdout);
export const symbols = symbolsFor(process.env, process.platform);

/**
 * Starts a plan. `finished` resolves to `{ lines, result, exitCode, killed, startedAt }`; `result`
 * is the last line, or null when the process was killed before it.
 */
export function runPlan({ plan, data, env, args = [], show = true }) {
  const command = [BIN, "run", join(HERE, plan), "--data", data, "--json", ...args];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const timeline = new Timeline({ write: (text) => process.stdout.write(text), paint, symbols });
  const lines = [];
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text);
    lines.push(line);
    if (show && "elapsedMs" in line) timeline.add(line);
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints += text;
  });
  const finished = new Promise((resolve) => {
    child.once("close", (code, signal) => {
      const result = lines.findLast((line) => line.type === "result") ?? null;
      resolve({ lines, result, exitCode: code, killed: signal === "SIGKILL", complaints });
    });
  });
  return { child, finished };
}
