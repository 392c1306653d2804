// Owns delivering the outbox of one committed transaction (E7).
//
//   O1 In order: a row that fails holds the later ones back until it is delivered or parked.
//   O2 A parked row is set aside: later rows pass it, except those that used its result.
//   O3 Whoever delivers holds the transaction's key in `exclusive`.

import { effectIdOf } from "@agenttx/ledger";
import type { EffectRecord } from "@agenttx/model";
import type { DeliveryReport, EffectName } from "./contract.js";
import { type EffectsCore, transactionKey } from "./core.js";
import { Stopped, sleep } from "./deadline.js";
import { type LedgerWriter, openWriter, readEffect } from "./effect-store.js";
import { type OutboxEntry, outboxRows } from "./outbox-row.js";
import { problemText } from "./problem-text.js";
import { sendStaged } from "./send-staged.js";

type Target = Omit<EffectName, "seq">;

/** What a pass has reached; read while it is still running. */
export interface DeliveryProgress {
  delivered: number;
  pending: number;
  /** By effect; gone when it was delivered after all. */
  readonly errors: Map<string, string>;
}

export interface DeliveryPass {
  /** Tries of one row before the pass leaves it to the background. */
  readonly tries: number;
  /** Monotonic milliseconds after which no waiting begins. */
  readonly untilMs: number;
  readonly stop: AbortSignal;
  readonly progress: DeliveryProgress;
}

/**
 * One bounded pass right after the commit. When the budget ends, the pass goes on behind it, and
 * `onLeft` hears of rows that are left. Never throws: the commit has happened.
 */
export async function deliver(
  core: EffectsCore,
  target: Target,
  budgetMs: number,
  onLeft: () => void,
): Promise<DeliveryReport> {
  const progress: DeliveryProgress = { delivered: 0, pending: 0, errors: new Map() };
  const untilMs = core.clock.monotonic() + budgetMs;
  const { inlineTries: tries } = core.limits;
  const pass = core.exclusive
    .run(transactionKey(target), () =>
      deliverRows(core, target, { tries, untilMs, stop: core.closing, progress }),
    )
    .catch((error: unknown) => {
      if (!(error instanceof Stopped)) progress.errors.set("", problemText(error));
    })
    .finally(() => {
      if (progress.pending > 0 || progress.errors.size > 0) onLeft();
    });
  const enough = new AbortController();
  const budget = sleep(core.clock, budgetMs, enough.signal).catch(() => undefined);
  await Promise.race([pass, budget]);
  enough.abort();
  return { ...progress, errors: [...progress.errors.values()] };
}

/** Delivers what is due, in order. Throws Stopped and storage errors. */
export async function deliverRows(
  core: EffectsCore,
  target: Target,
  pass: DeliveryPass,
): Promise<void> {
  const rows: OutboxEntry[] = [];
  for await (const row of outboxRows(core.store, target)) rows.push(row);
  const { progress } = pass;
  progress.pending = rows.length;
  if (rows.length === 0) return;
  const writer = await openWriter(core.store, target, null);
  const setAside = new Set<string>();
  try {
    for (const row of rows) {
      if (row.parked) {
        setAside.add(effectIdOf(row.transaction, row.seq));
        continue;
      }
      const effect = await readForSending(core, row, progress);
      if (effect === null) continue;
      if (effect.dependsOn.some((used) => setAside.has(used))) {
        setAside.add(effect.effectId);
        continue;
      }
      const kind = await deliverRow(core, { writer, row, effect }, pass);
      if (kind === "held") return;
      if (kind === "parked") setAside.add(effect.effectId);
    }
  } finally {
    await writer.close();
  }
}

async function readForSending(
  core: EffectsCore,
  row: OutboxEntry,
  progress: DeliveryProgress,
): Promise<EffectRecord | null> {
  const effectId = effectIdOf(row.transaction, row.seq);
  try {
    const effect = await readEffect(core.store, row);
    if (effect === null) progress.errors.set(effectId, `The record of ${effectId} is missing.`);
    return effect;
  } catch (error) {
    // A damaged record stops only itself.
    progress.errors.set(effectId, problemText(error));
    return null;
  }
}

async function deliverRow(
  core: EffectsCore,
  item: { readonly writer: LedgerWriter; row: OutboxEntry; readonly effect: EffectRecord },
  pass: DeliveryPass,
): Promise<"delivered" | "parked" | "held"> {
  let { row } = item;
  for (let failed = 1; ; failed += 1) {
    if (!isDue(core, row.nextAtMs)) {
      const waitMs = row.nextAtMs - core.clock.now();
      const left = pass.untilMs - core.clock.monotonic();
      if (failed === 1 || waitMs > left) return "held";
      await sleep(core.clock, waitMs, pass.stop);
    }
    const result = await sendStaged(core, { ...item, row, stop: pass.stop });
    if (result.kind === "delivered") {
      pass.progress.errors.delete(item.effect.effectId);
      pass.progress.delivered += 1;
      pass.progress.pending -= 1;
      return "delivered";
    }
    pass.progress.errors.set(item.effect.effectId, `${item.effect.tool}: ${result.problem}`);
    if (result.kind === "parked") return "parked";
    if (failed >= pass.tries) return "held";
    row = result.row;
  }
}

/** A wall clock that went back must not hold anything longer than the longest wait. */
export function isDue(core: EffectsCore, nextAtMs: number): boolean {
  const waitMs = nextAtMs - core.clock.now();
  return waitMs <= 0 || waitMs > core.limits.backoffCapMs;
}
