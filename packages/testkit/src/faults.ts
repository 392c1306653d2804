// Owns fault points: named places at which a test makes a program throw, hang or die.
//
//   AGENTTX_FAULT=name:count[:throw|hang|kill]   comma-separated; `kill` when nothing is named
//
//   Y1 A point that is not armed costs a map look-up and never fails.
//   Y2 A fault happens at the `count`-th pass (from 1) after it was armed, and once.
//   Y3 `kill` is SIGKILL: no handler, no flush, as close to a power cut as a process gets.

export type FaultKind = "throw" | "hang" | "kill";

export interface Fault {
  readonly kind: FaultKind;
  /** Which pass, from 1. Default 1. */
  readonly count?: number;
  /** What `throw` throws. Default: an Error that names the point. */
  readonly error?: Error;
}

interface Armed {
  readonly kind: FaultKind;
  readonly error: Error;
  left: number;
}

/** Fault points of one program. */
export class FaultRegistry {
  readonly #armed = new Map<string, Armed>();
  readonly #passes = new Map<string, number>();

  /** `environment` is the text of AGENTTX_FAULT. Throws when it is not of that form. */
  constructor(environment = "") {
    for (const item of environment.split(",").filter((text) => text !== "")) {
      const [, name, count, kind = "kill"] =
        /^([^:]+):([1-9]\d*)(?::(throw|hang|kill))?$/.exec(item.trim()) ?? [];
      if (name === undefined) {
        throw new Error(`AGENTTX_FAULT is name:count[:throw|hang|kill], not ${item}`);
      }
      this.arm(name, { kind: kind as FaultKind, count: Number(count) });
    }
  }

  /** Replaces what was armed under this name; counts from now. */
  arm(name: string, fault: Fault): void {
    const error = fault.error ?? new Error(`fault injected at ${name}`);
    this.#armed.set(name, { kind: fault.kind, error, left: fault.count ?? 1 });
  }

  disarm(name: string): void {
    this.#armed.delete(name);
  }

  /** Forgets what is armed and what was counted. */
  reset(): void {
    this.#armed.clear();
    this.#passes.clear();
  }

  /** How often this point was passed, armed or not. */
  passes(name: string): number {
    return this.#passes.get(name) ?? 0;
  }

  /** The point itself. Resolves unless a fault is due here. */
  async point(name: string): Promise<void> {
    this.#passes.set(name, this.passes(name) + 1);
    const armed = this.#armed.get(name);
    if (armed === undefined) return;
    armed.left -= 1;
    if (armed.left > 0) return;
    this.#armed.delete(name);
    await happen(armed);
  }
}

async function happen({ kind, error }: Armed): Promise<void> {
  if (kind === "throw") throw error;
  if (kind === "kill") process.kill(process.pid, "SIGKILL");
  await new Promise<never>(() => undefined);
}

let ofProcess: FaultRegistry | null = null;

/** The registry of this process, armed from AGENTTX_FAULT at its first use. */
export function processFaults(): FaultRegistry {
  ofProcess ??= new FaultRegistry(process.env.AGENTTX_FAULT);
  return ofProcess;
}

/** A point of the registry of this process. */
export function faultPoint(name: string): Promise<void> {
  return processFaults().point(name);
}
