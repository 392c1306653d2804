// Owns the running of the built command in tests: a process of its own, in a directory of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/agenttx.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("./fixtures/tools.mjs", import.meta.url));

/** A printed document; tests look at the fields they know. */
// biome-ignore lint/suspicious/noExplicitAny: parsed output, its shape is what the tests check
export type Json = any;

export interface Finished {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout as one JSON document; throws when it is none. */
  readonly json: () => Json;
  /** stdout as JSON Lines. */
  readonly lines: () => Json[];
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when stdout contains the text. */
  readonly until: (text: string) => Promise<void>;
}

/** One data directory, one world of effects, one folder for plans. */
export class Workplace {
  readonly root = mkdtempSync(join(tmpdir(), "agenttx-cli-"));
  readonly data = join(this.root, "data");
  readonly world = join(this.root, "world");
  readonly tools = ["--tools", TOOLS];

  /** Values of the effects that exist now, sorted. */
  effects(): string[] {
    if (!existsSync(this.world)) return [];
    return readdirSync(this.world)
      .map((name) => readFileSync(join(this.world, name), "utf8"))
      .sort();
  }

  /** Writes a plan of these calls and returns its path. */
  plan(name: string, decisions: readonly (readonly [string, object])[], more = {}): string {
    const path = join(this.root, `${name}.json`);
    const calls = decisions.map(([tool, args]) => ({ tool, args }));
    writeFileSync(path, JSON.stringify({ name, decisions: calls, ...more }));
    return path;
  }

  start(args: readonly string[], env: Record<string, string> = {}): Started {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: this.root,
      env: {
        PATH: process.env.PATH ?? "",
        LANG: "C.UTF-8",
        AGENTTX_DATA_DIR: this.data,
        WORLD_DIR: this.world,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const text = { stdout: "", stderr: "" };
    const watchers = new Set<() => void>();
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (more: string) => {
        text[name] += more;
        for (const watch of watchers) watch();
      });
    }
    const finished = new Promise<Finished>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode, signal) => {
        for (const watch of watchers) watch();
        const { stdout } = text;
        const lines = () =>
          stdout
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line));
        resolve({ exitCode, signal, ...text, json: () => JSON.parse(stdout), lines });
      });
    });
    const until = (wanted: string) =>
      new Promise<void>((resolve, reject) => {
        const watch = () => {
          if (text.stdout.includes(wanted)) resolve();
          else if (child.exitCode !== null) reject(new Error(`ended without: ${wanted}`));
          else return;
          watchers.delete(watch);
        };
        watchers.add(watch);
        watch();
      });
    return { child, finished, until };
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    return this.start(args, env).finished;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
