// Owns taking an edge of the ledger where the caller knows that it exists, and telling observers.

import {
  advanceEffect,
  type EffectEvent,
  type EffectTransition,
  effectSeqOf,
} from "@agenttx/ledger";
import { AgentTxError, type EffectRecord } from "@agenttx/model";
import { type EngineEvent, tellObserver } from "../ports.js";
import type { EffectsCore } from "./core.js";

/** The record after the event. A rejection is a bug of this package: INTERNAL, nothing written. */
export function change(core: EffectsCore, effect: EffectRecord, event: EffectEvent): EffectRecord {
  return requireChange(advanceEffect(effect, event, core.clock.now()));
}

export function requireChange(transition: EffectTransition): EffectRecord {
  if (transition.ok) return transition.record;
  throw new AgentTxError("INTERNAL", `${transition.rejection.message} Nothing was written.`);
}

/** Tells the observer; ids and words only. */
export function tell(
  core: EffectsCore,
  kind: EngineEvent["kind"],
  effect: EffectRecord,
  data: EngineEvent["data"] = {},
): void {
  const { observer, clock } = core;
  if (observer === null) return;
  const { effectId, transaction, namespace, step, tool } = effect;
  const seq = effectSeqOf(effectId);
  tellObserver(observer, {
    kind,
    transaction,
    namespace,
    step,
    tool,
    atMs: clock.now(),
    data: { effectId, seq, ...data },
  });
}
