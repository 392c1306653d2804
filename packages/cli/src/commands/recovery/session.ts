// Owns engine and recovery of one command. What the application knows about its workflows comes from
// the same modules as its tools: `export const recovery = { invariants, schemaVersion, migrations }`.

import { createRecovery, type Recovery, type RecoveryOptions } from "@agenttx/recovery";
import { keepAlive } from "../../keep-alive.js";
import { openSession, type Session } from "../../session.js";
import { locate } from "../../tools-module.js";

export type RecoverySettings = Pick<RecoveryOptions, "invariants" | "schemaVersion" | "migrations">;

export interface RecoverySession extends Session {
  readonly recovery: Recovery;
  /** False: no module named any, so nothing but the ledger is checked. */
  readonly hasInvariants: boolean;
}

export interface RecoverySessionOptions {
  readonly dataDirectory: string;
  readonly tools?: readonly string[];
  readonly filesRoot?: string;
}

/** Opens the data directory. Nothing is recovered by opening. */
export async function openRecovery(options: RecoverySessionOptions): Promise<RecoverySession> {
  const settings = await readRecoverySettings(options.tools ?? []);
  const session = await openSession(options);
  const { engine, store } = session;
  const recovery = createRecovery({ ...settings, engine, store });
  const release = keepAlive();
  return {
    ...session,
    recovery,
    hasInvariants: (settings.invariants ?? []).length > 0,
    async close() {
      release();
      await session.close();
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
