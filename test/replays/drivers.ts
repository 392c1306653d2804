// Owns the two stores that every replay runs on, and how a process restarts on each.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type EngineOptions, type ToolShape } from "@agenttx/engine";
import type { Store } from "@agenttx/model";
import { openStore } from "@agenttx/storage";
import { fakeClock, openMemoryStore } from "@agenttx/testkit";
import { onTestFinished } from "vitest";

export interface OpenDriver {
  readonly store: Store;
  /** The same data after the process died: nothing of the old handles works any more. */
  restart(): Promise<Store>;
}

export interface Driver {
  readonly name: string;
  open(): Promise<OpenDriver>;
}

export const DRIVERS: readonly Driver[] = [
  {
    name: "memory",
    async open() {
      const store = openMemoryStore();
      return {
        store,
        async restart() {
          await store.reopen();
          return store;
        },
      };
    },
  },
  {
    name: "rocksdb",
    async open() {
      const path = await mkdtemp(join(tmpdir(), "agenttx-replay-"));
      let store = await openStore({ path });
      onTestFinished(async () => {
        await store.close();
        await rm(path, { recursive: true, force: true });
      });
      return {
        store,
        async restart() {
          await store.close();
          store = await openStore({ path });
          return store;
        },
      };
    },
  },
];

export type Options<Tools extends readonly ToolShape[]> = Partial<EngineOptions<Tools>>;

/** An engine on a driver, on a clock that only the test moves. */
export async function start<const Tools extends readonly ToolShape[]>(
  driver: Driver,
  tools: Tools,
  options: Options<Tools> = {},
) {
  const clock = fakeClock();
  const opened = await driver.open();
  const engineOn = (store: Store) => createEngine<Tools>({ clock, ...options, tools, store });
  return {
    clock,
    store: opened.store,
    engine: engineOn(opened.store),
    /** The process dies and another one starts. */
    async restart() {
      return engineOn(await opened.restart());
    },
  };
}

/** Moves the clock, and lets real input and output happen, until it is so. */
export async function timeUntil(
  clock: { advance(ms: number): Promise<void> },
  isSo: () => boolean,
): Promise<void> {
  while (!isSo()) {
    await clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Moves the clock until the work is done, so that retries and waits cost no time. */
export async function withTime<Result>(
  clock: { advance(ms: number): Promise<void> },
  work: Promise<Result>,
): Promise<Result> {
  let done = false;
  const watched = work.finally(() => {
    done = true;
  });
  watched.catch(() => undefined);
  await timeUntil(clock, () => done);
  return watched;
}
