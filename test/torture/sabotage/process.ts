// Owns running a program in a folder to its end, with all it prints.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));

export interface Ran {
  readonly code: number;
  readonly text: string;
}

/** -1: it was killed, for taking too long or by itself. */
export function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  msMax: number,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: msMax,
      env: { ...process.env, PATH: `${BIN}:${process.env.PATH}`, ...variables },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, text }));
  });
}
