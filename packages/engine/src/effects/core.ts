// Owns what the files of the effects side share: ports, limits, locks.

import { backoffMs } from "@agenttx/ledger";
import type { Store } from "@agenttx/model";
import type { Clock, EngineObserver, SecretSource } from "../ports.js";
import type { EffectName, ToolRegistry } from "./contract.js";
import type { EffectLimits } from "./effect-limits.js";
import type { KeyedLocks } from "./exclusive.js";
import type { NamespaceRegister } from "./namespaces.js";

export interface EffectsCore {
  readonly store: Store;
  readonly tools: ToolRegistry;
  readonly clock: Clock;
  readonly secrets: SecretSource | null;
  readonly observer: EngineObserver | null;
  readonly random: () => number;
  readonly limits: EffectLimits;
  /** One worker per transaction. */
  readonly exclusive: KeyedLocks;
  readonly namespaces: NamespaceRegister;
  /** Aborts when the engine closes: background work stops, what is on disk says where to go on. */
  readonly closing: AbortSignal;
}

/** The key of a transaction in `exclusive`. */
export function transactionKey(name: Omit<EffectName, "seq">): string {
  return JSON.stringify([name.namespace, name.transaction]);
}

/** Milliseconds to wait after so many failed tries. */
export function waitAfter(core: EffectsCore, failedTries: number): number {
  const { backoffBaseMs: baseMs, backoffCapMs: capMs } = core.limits;
  return backoffMs(failedTries, core.random(), { baseMs, capMs });
}
