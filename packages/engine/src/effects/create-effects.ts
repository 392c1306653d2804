// Owns putting the effects side together.

import { AgentTxError, type Store } from "@agenttx/model";
import type { Clock, EngineObserver, SecretSource } from "../ports.js";
import { Background } from "./background.js";
import { compensate, markIndeterminate } from "./compensate.js";
import type { EffectsPort, ToolRegistry } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { EFFECT_LIMITS_DEFAULT, type EffectLimits } from "./effect-limits.js";
import { readEffects, readUndo } from "./effect-store.js";
import { KeyedLocks } from "./exclusive.js";
import { NamespaceRegister } from "./namespaces.js";
import { deliver } from "./outbox.js";
import { listUnresolved, resolve } from "./reconcile.js";
import { runEffect } from "./run-effect.js";
import { commitRecords, stageEffect } from "./stage-effect.js";

export interface EffectsOptions {
  readonly store: Store;
  readonly tools: ToolRegistry;
  readonly clock: Clock;
  /** Where `${secrets.NAME}` in recorded arguments comes from again. */
  readonly secrets?: SecretSource;
  readonly observer?: EngineObserver;
  /** Jitter of waits, in [0, 1). Default Math.random. */
  readonly random?: () => number;
  readonly limits?: Partial<EffectLimits>;
}

/** The effects side on a store. It holds nothing that is not on disk; several may follow another. */
export function createEffects(options: EffectsOptions): EffectsPort {
  const { store, tools, clock } = options;
  const closing = new AbortController();
  const core: EffectsCore = {
    store,
    tools,
    clock,
    secrets: options.secrets ?? null,
    observer: options.observer ?? null,
    random: options.random ?? Math.random,
    limits: { ...EFFECT_LIMITS_DEFAULT, ...options.limits },
    exclusive: new KeyedLocks(store),
    namespaces: new NamespaceRegister(store),
    closing: closing.signal,
  };
  const background = new Background(core);
  return {
    runEffect: (call) => runEffect(core, call),
    stageEffect: (call) => stageEffect(core, call),
    listEffects: async (transaction, namespace) => {
      const { effects, damage } = await readEffects(store, { transaction, namespace });
      return requireWhole(effects, damage);
    },
    undoActions: async (transaction, namespace) => {
      const { undo, damage } = await readUndo(store, { transaction, namespace });
      return requireWhole(undo, damage);
    },
    async compensate(target) {
      const report = await compensate(core, target);
      if (report.unresolved.length > 0) background.wake();
      return report;
    },
    markIndeterminate: (transaction, namespace, tx = null) =>
      markIndeterminate(core, { transaction, namespace, tx }),
    commitRecords: (transaction, namespace) => commitRecords(core, { transaction, namespace }),
    deliver: (transaction, namespace, budgetMs) =>
      deliver(core, { transaction, namespace }, budgetMs, () => background.wake()),
    listUnresolved: (page) => listUnresolved(core, page),
    async resolve(name, resolution) {
      const effect = await resolve(core, name, resolution);
      background.wake();
      await background.tellIfSettled(name);
      return effect;
    },
    async start(onSettled) {
      background.start(onSettled);
    },
    async close() {
      closing.abort();
      await background.close();
    },
  };
}

function requireWhole<Item>(
  items: readonly Item[],
  damage: readonly { readonly problem: string }[],
): readonly Item[] {
  const [first] = damage;
  if (first === undefined) return items;
  throw new AgentTxError("STORE_CORRUPT", first.problem, { details: { records: damage.length } });
}
