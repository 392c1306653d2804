// Owns what the files of recovery share: ports, settings, and the turn of each workflow.

import type { Clock, Engine, Revisions, ToolShape } from "@agenttx/engine";
import type { Store } from "@agenttx/model";
import type { Invariant } from "./invariant.js";
import type { Migration } from "./migrations.js";

export interface RecoveryCore {
  readonly engine: Engine<readonly ToolShape[]>;
  readonly revisions: Revisions<readonly ToolShape[]>;
  readonly store: Store;
  readonly clock: Clock;
  readonly invariants: readonly Invariant[];
  /** Version of the application's data that this deploy writes. */
  readonly schemaVersion: number;
  readonly migrations: Readonly<Record<number, Migration>>;
  /** One worker of this process per workflow. */
  readonly turns: Turns;
  readonly onRecovered: (event: RecoveredEvent) => void;
}

export interface RecoveredEvent {
  readonly workflow: string;
  readonly namespace: string;
  /** From the freeze to the new revision. */
  readonly durationMs: number;
}

/** Work under one key runs one after another. */
export class Turns {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` after everything that was queued under `key` before it. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    const tail = own.catch(() => undefined);
    this.#tails.set(key, tail);
    try {
      return await own;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

export function turnKey(workflow: string, namespace: string): string {
  return JSON.stringify([namespace, workflow]);
}
