// Owns servers in a process of their own, started by the command that users start.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/agenttx.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("./fixtures/effects.mjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => { readonly stdout: string; readonly stderr: string };
}

/** A directory with data, effects and a port that stays the same over restarts. */
export class ServerPlace {
  readonly root = mkdtempSync(join(tmpdir(), "agenttx-serve-"));
  readonly effectLog = join(this.root, "effects.log");
  readonly #port: number;
  readonly #running = new Set<ServerProcess>();

  private constructor(port: number) {
    this.#port = port;
  }

  static async make(): Promise<ServerPlace> {
    return new ServerPlace(await freePort());
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Resolves when it serves; rejects with its output when it ends before. */
  async start(args: readonly string[] = [], tools: string = TOOLS): Promise<ServerProcess> {
    const all = ["serve", "--listen", this.address, "--http-listen", "off", "--tools", tools];
    const started = this.spawn([...all, ...args]);
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (started.output().stdout.includes("agenttx serves")) resolve();
      };
      started.child.stdout?.on("data", look);
      void started.ended.then(() => reject(new Error(JSON.stringify(started.output()))));
    });
    return started;
  }

  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): ServerProcess {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: this.root,
      env: {
        PATH: process.env.PATH ?? "",
        LANG: "C.UTF-8",
        EFFECT_LOG: this.effectLog,
        AGENTTX_DATA_DIR: join(this.root, "data"),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const text = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (more: string) => {
        text[name] += more;
      });
    }
    const ended = new Promise<Ended>((resolve) => {
      child.once("close", (code, signal) => {
        this.#running.delete(started);
        resolve({ code, signal });
      });
    });
    const started: ServerProcess = { child, ended, output: () => ({ ...text }) };
    this.#running.add(started);
    return started;
  }

  effects(): string[] {
    if (!existsSync(this.effectLog)) return [];
    return readFileSync(this.effectLog, "utf8").trim().split("\n");
  }

  async remove(): Promise<void> {
    for (const { child, ended } of [...this.#running]) {
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

/**
 * Below the range that the system gives to outgoing connections: a client that knocks at a port while
 * nobody listens there could otherwise be given that very port, connect to itself and keep it.
 */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
  throw new Error("no free port between 10,000 and 30,000");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
