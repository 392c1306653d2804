// Owns the composition of one command: which store, which tools, one engine on them, and the closing
// of both in the right order.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createEngine, type Engine, type EngineObserver, type ToolShape } from "@agenttx/engine";
import type { Store } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import { openStore } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/storage/memory";
import { builtinTools, jsonLinesSink } from "@agenttx/tools";
import { type LookupReport, observeLookups } from "./observed-tools.js";
import { loadTools } from "./tools-module.js";

export interface SessionOptions {
  readonly dataDirectory: string;
  /** Nothing on disk; `dataDirectory` is not looked at. */
  readonly memory?: boolean;
  /** The store is made when it is missing. Default: NOT_FOUND then. */
  readonly create?: boolean;
  readonly syncWrites?: boolean;
  /** `--tools` modules. A tool of theirs replaces the built-in one of the same name. */
  readonly tools?: readonly string[];
  /** Adds the fs tools, confined to this directory. */
  readonly filesRoot?: string;
  /** Adds effect.stage with the sink `outbox`, a JSON Lines file. */
  readonly outbox?: string;
  readonly observer?: EngineObserver;
  readonly onLookup?: (report: LookupReport) => void;
}

export interface Session {
  readonly store: Store;
  readonly engine: Engine;
  /** Closes engine and store; an open transaction stays on disk. */
  close(): Promise<void>;
}

/** Opens store and engine. Nothing is recovered and no undo is run by opening. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const tools = await gatherTools(options);
  const store =
    options.memory === true
      ? openMemoryStore()
      : options.create === true
        ? await openStore({ path: options.dataDirectory, syncWrites: options.syncWrites === true })
        : await openExistingStore(options.dataDirectory);
  try {
    const engine = createEngine({
      store,
      tools,
      ...(options.observer === undefined ? {} : { observer: options.observer }),
    });
    const close = async () => {
      await engine.close();
      await store.close();
    };
    return { store, engine, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The store in a directory; NOT_FOUND when there is none, and none is made. */
export async function openExistingStore(directory: string): Promise<Store> {
  const path = resolve(directory);
  if (!existsSync(join(path, "FORMAT"))) {
    throw new AgentTxError(
      "NOT_FOUND",
      `There is no store at ${path}. Give --data or AGENTTX_DATA_DIR; agenttx run makes one.`,
      { details: { path } },
    );
  }
  return await openStore({ path });
}

async function gatherTools(options: SessionOptions): Promise<readonly ToolShape[]> {
  const own = (await Promise.all((options.tools ?? []).map((one) => loadTools(one)))).flat();
  const names = new Set(own.map((tool) => tool.name));
  const builtin: readonly ToolShape[] = builtinTools({
    ...(options.filesRoot === undefined ? {} : { fs: { root: resolve(options.filesRoot) } }),
    ...(options.outbox === undefined
      ? {}
      : { effect: { sinks: { outbox: jsonLinesSink({ path: resolve(options.outbox) }) } } }),
  });
  const all = [...builtin.filter((tool) => !names.has(tool.name)), ...own];
  const { onLookup } = options;
  return onLookup === undefined ? all : all.map((tool) => observeLookups(tool, onLookup));
}
