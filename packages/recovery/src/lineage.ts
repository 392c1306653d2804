// Owns which parts of which revisions a workflow's present is made of (C1): the current revision,
// the part of an earlier one up to the checkpoint it was forked from, and so on.

import type { RevisionName } from "@agenttx/engine";
import { isOpen, isSettled } from "@agenttx/ledger";
import type { EffectRecord } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import {
  type CheckpointRef,
  currentRevision,
  revisionOf,
  type WorkflowRecord,
} from "./workflow-record.js";
import { nameOf } from "./workflow-store.js";

export interface Segment extends RevisionName {
  readonly revision: number;
  /** Last step that belongs to the present; Infinity for the current revision. */
  readonly upTo: number;
}

/** Effects of one revision. */
export type EffectsOf = (name: RevisionName) => Promise<readonly EffectRecord[]>;

/** Reads the ledger of each revision once: for a decision that looks at it from several sides. */
export function ledgersOnce(core: RecoveryCore): EffectsOf {
  const known = new Map<string, Promise<readonly EffectRecord[]>>();
  return (name) => {
    const read = known.get(name.transaction) ?? core.revisions.effects(name);
    known.set(name.transaction, read);
    return read;
  };
}

/** Newest first. */
export function lineageOf(record: WorkflowRecord): readonly Segment[] {
  const segments: Segment[] = [];
  let entry = currentRevision(record);
  for (let upTo = Number.POSITIVE_INFINITY; ; ) {
    segments.push({ ...nameOf(record, entry), revision: entry.revision, upTo });
    if (entry.base === null) return segments;
    upTo = entry.base.step;
    entry = revisionOf(record, entry.base.revision);
  }
}

/** A part that going back to a checkpoint undoes: effects of steps >= fromStep. */
export interface Scope extends Segment {
  readonly fromStep: number;
}

/** Newest first. REQUIRES: the checkpoint lies on the lineage. */
export function scopeOf(lineage: readonly Segment[], checkpoint: CheckpointRef): readonly Scope[] {
  const newer = lineage.filter(({ revision }) => revision > checkpoint.revision);
  const own = lineage.filter(({ revision }) => revision === checkpoint.revision);
  return [
    ...newer.map((segment) => ({ ...segment, fromStep: 0 })),
    ...own.map((segment) => ({ ...segment, fromStep: checkpoint.step + 1 })),
  ];
}

/** Effects that stand in the present or are open, by revision and age. */
export async function ledgerOf(
  effectsOf: EffectsOf,
  lineage: readonly Segment[],
): Promise<readonly EffectRecord[]> {
  const ledger: EffectRecord[] = [];
  const newest = lineage[0]?.revision;
  for (const segment of [...lineage].reverse()) {
    const effects = await effectsOf(segment);
    // A later revision has its own copy of what an earlier one staged.
    const own = effects.filter((one) => one.state !== "staged" || segment.revision === newest);
    ledger.push(...own.filter(({ step, state }) => step <= segment.upTo || isOpen(state)));
  }
  return ledger;
}

/** Effects of the scope that still have to be settled, and open ones anywhere in the lineage. */
export async function unsettledOf(
  effectsOf: EffectsOf,
  lineage: readonly Segment[],
  scope: readonly Scope[],
): Promise<{ readonly untried: readonly string[]; readonly open: readonly EffectRecord[] }> {
  const untried: string[] = [];
  const open: EffectRecord[] = [];
  const fromStepOf = new Map(scope.map(({ revision, fromStep }) => [revision, fromStep]));
  for (const segment of lineage) {
    const fromStep = fromStepOf.get(segment.revision) ?? Number.POSITIVE_INFINITY;
    for (const effect of await effectsOf(segment)) {
      if (isOpen(effect.state)) open.push(effect);
      const within = effect.step >= fromStep && effect.step <= segment.upTo;
      if (within && effect.state !== "unresolved" && !isSettled(effect.state)) {
        untried.push(effect.effectId);
      }
    }
  }
  return { untried, open };
}
