// Owns what the commands about workflows work with. On a data directory: an engine, and what the
// application knows about its workflows, which comes from the same modules as its tools:
// `export const recovery = { invariants, schemaVersion, migrations }`. On a server: a connection.

import { createRecovery, type RecoveryOptions } from "@agenttx/recovery";
import { keepAlive } from "../../keep-alive.js";
import type { Output } from "../../output.js";
import { connect, type ServerOptions } from "../../remote.js";
import { openSession } from "../../session.js";
import { locate } from "../../tools-module.js";
import { embeddedCalls, type RecoveryCalls, serverCalls } from "./calls.js";

export type RecoverySettings = Pick<RecoveryOptions, "invariants" | "schemaVersion" | "migrations">;

export interface RecoverySession {
  readonly recovery: RecoveryCalls;
  /** False: no module named any, so nothing but the ledger is checked. A server knows its own. */
  readonly hasInvariants: boolean;
  close(): Promise<void>;
}

export interface RecoverySessionOptions {
  readonly dataDirectory: string;
  /** Undefined: the data directory. */
  readonly server?: ServerOptions;
  /** For undo in this process; a server has its own. */
  readonly tools?: readonly string[];
  readonly filesRoot?: string;
  /** Told how far a long call is. */
  readonly output?: Output;
}

/** Opens one of both. Nothing is recovered by opening. */
export async function openRecovery(options: RecoverySessionOptions): Promise<RecoverySession> {
  if (options.server !== undefined) {
    const client = await connect(options.server);
    const note = (text: string): void => options.output?.note(text);
    return {
      recovery: serverCalls(client, note),
      hasInvariants: true,
      close: () => client.close(),
    };
  }
  const settings = await readRecoverySettings(options.tools ?? []);
  const { engine, store, close } = await openSession(options);
  const release = keepAlive();
  return {
    recovery: embeddedCalls(createRecovery({ ...settings, engine, store })),
    hasInvariants: (settings.invariants ?? []).length > 0,
    async close() {
      release();
      await close();
    },
  };
}

/** Of the last module that exports any. */
export async function readRecoverySettings(modules: readonly string[]): Promise<RecoverySettings> {
  let settings: RecoverySettings = {};
  for (const specifier of modules) {
    const module = (await import(locate(specifier))) as { recovery?: RecoverySettings };
    if (module.recovery !== undefined) settings = module.recovery;
  }
  return settings;
}
