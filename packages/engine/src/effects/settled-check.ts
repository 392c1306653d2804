// Owns the question whether a transaction has nothing open any more.

import { effectIdOf, isOpen } from "@agenttx/ledger";
import type { EffectName } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { readEffects } from "./effect-store.js";
import { outboxRows } from "./outbox-row.js";

/** Deliveries that are on their way are not open: their transaction has committed. */
export async function hasNothingOpen(
  core: EffectsCore,
  target: Omit<EffectName, "seq">,
): Promise<boolean> {
  const { effects, damage } = await readEffects(core.store, target);
  if (damage.length > 0) return false;
  const open = effects.filter(({ state }) => isOpen(state));
  if (open.length === 0) return true;
  if (open.some(({ state }) => state !== "requested")) return false;
  const onTheWay = new Set<string>();
  for await (const { transaction, seq } of outboxRows(core.store, target)) {
    onTheWay.add(effectIdOf(transaction, seq));
  }
  return open.every(({ effectId }) => onTheWay.has(effectId));
}
