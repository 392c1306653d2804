// Owns running one of the scripts in children/ and seeing how it ended.

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Longer than any child needs; one that hangs is killed and shows SIGKILL. */
const CHILD_MS_MAX = 100_000;

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Lines of stdout; children write them with one synchronous write each. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

export interface RunningChild {
  readonly process: ChildProcess;
  /** Resolves when the child has written so many lines, or has ended. */
  linesReached(count: number): Promise<void>;
  readonly ended: Promise<ChildEnd>;
}

export function childScript(name: string): string {
  return fileURLToPath(new URL(`./children/${name}`, import.meta.url));
}

export function startChild(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningChild {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_MS_MAX);
  onTestFinished(() => {
    clearTimeout(timer);
    child.kill("SIGKILL");
  });
  let stdout = "";
  let stderr = "";
  const lineCount = () => stdout.split("\n").length - 1;
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const wake = (all: boolean) => {
    for (const { count, done } of waiting) if (all || lineCount() >= count) done();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    wake(false);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      wake(true);
      // A last line cut short by the kill was not acknowledged to anybody.
      resolve({ code, signal, lines: stdout.split("\n").slice(0, -1), stderr });
    });
  });
  const linesReached = (count: number) =>
    new Promise<void>((done) => {
      waiting.push({ count, done });
      wake(child.exitCode !== null || child.signalCode !== null);
    });
  return { process: child, linesReached, ended };
}

/** Runs `node [nodeFlags] children/<script> args`. */
export function runChild(
  script: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ChildEnd> {
  return startChild(process.execPath, [...nodeFlags, childScript(script), ...args], env).ended;
}
