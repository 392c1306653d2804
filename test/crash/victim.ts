// Owns the processes that die: started ahead of time, given their orders by one line, heard line by
// line, and killed.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { FaultPlan } from "@agenttx/testkit";
import type { Line } from "./lines.js";

const SCRIPT = fileURLToPath(new URL("./children/victim.mjs", import.meta.url));
/** Longer than any victim needs; one that hangs is killed, and the case fails. */
const VICTIM_MS_MAX = 60_000;

export type WayOut = "exit" | "throw" | "reject" | "terminate";

export interface Orders {
  readonly mode: "work" | "tour" | "rest" | "inspect" | "probe";
  readonly store: string;
  readonly sink: string;
  readonly socket: string;
  readonly seed: number;
  /** Stands before every name that the victim makes. */
  readonly prefix: string;
  readonly lanes: number;
  readonly resume: boolean;
  readonly sync: boolean;
  /** Death at the first named point of this half that is not known. */
  readonly hunt: { readonly known: readonly string[]; readonly half: 0 | 1 | null } | null;
  /** A way out that it takes by itself, after so many lines or, for its thread, so many ms. */
  readonly leave: { readonly how: WayOut; readonly lines: number; readonly ms: number } | null;
  /** Death at the n-th durable write. */
  readonly plan: FaultPlan | null;
  readonly questions: readonly unknown[];
}

export interface VictimEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly hung: boolean;
}

export class Victim {
  readonly lines: Line[] = [];
  readonly ended: Promise<VictimEnd>;
  readonly #process: ChildProcess;
  #listener: ((line: Line) => void) | null = null;

  constructor() {
    const child = spawn(process.execPath, [SCRIPT], { stdio: ["pipe", "pipe", "pipe"] });
    this.#process = child;
    child.stdin.on("error", () => undefined);
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    createInterface({ input: child.stdout }).on("line", (text) => this.#hear(text));
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        resolve({ code, signal, stderr, hung: this.#hung });
      });
    });
  }

  #hung = false;

  /** Gives the orders; `onLine` hears every line in turn. */
  go(orders: Orders, onLine: (line: Line) => void = () => undefined): void {
    this.#listener = onLine;
    const timer = setTimeout(() => {
      this.#hung = true;
      this.kill();
    }, VICTIM_MS_MAX);
    void this.ended.finally(() => clearTimeout(timer));
    this.#process.stdin?.end(`${JSON.stringify(orders)}\n`);
  }

  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    this.#process.kill(signal);
  }

  #hear(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      // Cut short by the kill: said to nobody.
      return;
    }
    this.lines.push(line);
    this.#listener?.(line);
  }
}

/** Keeps the next victim loaded, so that a cycle does not wait for modules. */
export class VictimPool {
  #next: Victim | null = null;

  take(): Victim {
    const victim = this.#next ?? new Victim();
    this.#next = new Victim();
    return victim;
  }

  async close(): Promise<void> {
    this.#next?.kill();
    await this.#next?.ended;
    this.#next = null;
  }
}
