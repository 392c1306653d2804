// Owns one retry of a transaction's unresolved effects (E8, C2). Effects that are not listed are
// not touched: the transaction may be running.
//   REQUIRES: the caller holds the transaction's key in `exclusive`.

import { effectIdOf, isListed } from "@agenttx/ledger";
import type { EffectRecord } from "@agenttx/model";
import { effectsOfSteps } from "./compensate.js";
import type { EffectName } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { openWriter, readEffects, readUndo } from "./effect-store.js";
import type { OpenEntry } from "./open-list.js";
import { outboxRows } from "./outbox-row.js";
import { settle } from "./settle.js";

type Due = Pick<OpenEntry, "transaction" | "seq" | "failedTries">;

/** Retries the listed effects that are due, then those that waited for one of them. */
export async function retryOpen(
  core: EffectsCore,
  target: Omit<EffectName, "seq">,
  due: readonly Due[],
  tries = 1,
): Promise<void> {
  const failedBefore = new Map(
    due.map(({ transaction, seq, failedTries }) => [effectIdOf(transaction, seq), failedTries]),
  );
  const delivery = new Set<string>();
  for await (const { transaction, seq } of outboxRows(core.store, target)) {
    delivery.add(effectIdOf(transaction, seq));
  }
  const writer = await openWriter(core.store, target, null);
  try {
    let ids = new Set(failedBefore.keys());
    while (ids.size > 0) {
      const { effects } = await readEffects(core.store, target);
      const { undo, damage } = await readUndo(core.store, target);
      const isWork = (effect: EffectRecord): boolean =>
        isListed(effect) && ids.has(effect.effectId) && !delivery.has(effect.effectId);
      const work = effects.filter(isWork);
      const others = effects.filter((effect) => !isWork(effect));
      const unreadable = effectsOfSteps(work, damage);
      const { closing: stop } = core;
      const settlement = { writer, effects: work, others, undo, unreadable };
      const report = await settle(core, { ...settlement, tries, failedBefore, stop });
      const open = new Set(report.unresolved);
      ids = waitedFor(
        work.filter(({ effectId }) => !open.has(effectId)),
        others,
      );
    }
  } finally {
    await writer.close();
  }
}

/** Listed effects whose result one of these used: nothing of these holds them back any more. */
function waitedFor(settled: readonly EffectRecord[], others: readonly EffectRecord[]): Set<string> {
  const used = new Set(settled.flatMap(({ dependsOn }) => dependsOn));
  const waiting = others.filter((one) => one.waitsFor === "retry" && used.has(one.effectId));
  return new Set(waiting.map(({ effectId }) => effectId));
}
