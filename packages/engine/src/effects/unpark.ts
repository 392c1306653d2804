// Owns parked deliveries whose tool is back (C8).
//   REQUIRES: the caller holds the transaction's key in `exclusive`.

import type { EffectName } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { openWriter, readEffect } from "./effect-store.js";
import { outboxRows, putRow } from "./outbox-row.js";

/** Puts rows that waited for their tool back in line. True when there was one. */
export async function unparkReturned(
  core: EffectsCore,
  target: Omit<EffectName, "seq">,
): Promise<boolean> {
  const nextAtMs = core.clock.now();
  const records = [];
  for await (const row of outboxRows(core.store, target)) {
    if (!row.parked) continue;
    const effect = await readEffect(core.store, row);
    if (effect?.waitsFor !== "tool" || core.tools.find(effect.tool, effect.namespace) === null)
      continue;
    records.push(putRow(row.seq, { ...row, failedTries: 0, nextAtMs, parked: false }));
  }
  if (records.length === 0) return false;
  const writer = await openWriter(core.store, target, null);
  try {
    await writer.write({ records, audit: [] });
  } finally {
    await writer.close();
  }
  return true;
}
