// Owns settling a transaction's effects for a caller: a rewind, an abort, recovery.

import type { StoreTransaction } from "@agenttx/model";
import type { CompensationReport, EffectName } from "./contract.js";
import { type EffectsCore, transactionKey } from "./core.js";
import { effectAudit } from "./effect-audit.js";
import { change } from "./effect-change.js";
import { type Damage, effectWrites, openWriter, readEffects, readUndo } from "./effect-store.js";
import { settle } from "./settle.js";

type Target = Omit<EffectName, "seq"> & { readonly tx: StoreTransaction | null };

/** See EffectsPort.compensate. */
export async function compensate(
  core: EffectsCore,
  target: Target & { readonly fromStep: number; readonly owner?: bigint },
): Promise<CompensationReport> {
  return core.exclusive.run(transactionKey(target), async () => {
    const { effects, damage } = await readEffects(core.store, target);
    const open = effects.filter(({ step }) => step >= target.fromStep);
    const { undo, damage: undoDamage } = await readUndo(core.store, target);
    const writer = await openWriter(core.store, target, target.tx, target.owner);
    try {
      const report = await settle(core, {
        writer,
        effects: open,
        others: effects.filter(({ step }) => step < target.fromStep),
        undo,
        unreadable: effectsOfSteps(open, undoDamage),
        tries: core.limits.inlineTries,
        failedBefore: NONE,
        stop: null,
      });
      return withDamage(report, damage);
    } finally {
      await writer.close();
    }
  });
}

const NONE: ReadonlyMap<string, number> = new Map();

/** A damaged undo record does not say whose it is: every effect of its step is in doubt. */
export function effectsOfSteps(
  effects: readonly { readonly effectId: string; readonly step: number }[],
  damage: readonly Damage[],
): Set<string> {
  const steps = new Set(damage.map(({ step }) => step));
  return new Set(effects.filter(({ step }) => steps.has(step)).map(({ effectId }) => effectId));
}

/** A damaged effect record cannot be settled; it is never counted as done. */
function withDamage(report: CompensationReport, damage: readonly Damage[]): CompensationReport {
  if (damage.length === 0) return report;
  const errors = damage.map(({ effectId, step, problem }) => {
    return { effectId: effectId ?? "", step, tool: "", message: problem };
  });
  const ids = damage.flatMap(({ effectId }) => (effectId === null ? [] : [effectId]));
  return {
    run: report.run,
    errors: [...report.errors, ...errors],
    unresolved: [...report.unresolved, ...ids],
  };
}

/** See EffectsPort.markIndeterminate. */
export async function markIndeterminate(core: EffectsCore, target: Target): Promise<void> {
  await core.exclusive.run(transactionKey(target), async () => {
    const { effects } = await readEffects(core.store, target);
    const lost = effects.filter(({ state }) => state === "requested");
    if (lost.length === 0) return;
    const changed = lost.map((before) => ({
      before,
      after: change(core, before, { type: "lose" }),
    }));
    const writer = await openWriter(core.store, target, target.tx);
    try {
      await writer.write({
        records: changed.flatMap(({ before, after }) => effectWrites(before, after, [])),
        audit: changed.map(({ after }) => effectAudit(after, "lose", core.clock.now())),
      });
    } finally {
      await writer.close();
    }
  });
}
