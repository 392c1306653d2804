// Owns the running of an example as a user runs it, in a temporary directory of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));

export interface ExampleRun {
  readonly child: ChildProcess;
  readonly until: (text: string) => Promise<void>;
  readonly finished: Promise<{
    readonly exitCode: number | null;
    readonly output: string;
    /** Names that it left in the temporary directory. */
    readonly leftFiles: readonly string[];
    /** Command lines of processes of it that still run; only known on Linux. */
    readonly leftProcesses: () => readonly string[];
  }>;
}

/** Starts `examples/<file>`; its own temporary files go where they can be counted. */
export function startExample(file: string, args: readonly string[] = []): ExampleRun {
  const temporary = mkdtempSync(join(tmpdir(), "agenttx-example-"));
  const child = spawn(process.execPath, [join(EXAMPLES, file), ...args], {
    env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (more: string) => {
      output += more;
      for (const watch of watchers) watch();
    });
  }
  const finished = new Promise<Awaited<ExampleRun["finished"]>>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => {
      const leftFiles = readdirSync(temporary);
      const leftProcesses = () => processesNaming(temporary);
      rmSync(temporary, { recursive: true, force: true });
      resolve({ exitCode, output, leftFiles, leftProcesses });
    });
  });
  const until = (wanted: string) =>
    new Promise<void>((resolve) => {
      const watch = () => {
        if (!output.includes(wanted)) return;
        watchers.delete(watch);
        resolve();
      };
      watchers.add(watch);
      watch();
    });
  return { child, until, finished };
}

/** Every example names its temporary directory in the arguments of what it starts. */
function processesNaming(text: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.includes(text) ? [line] : [];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}
