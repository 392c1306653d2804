// Owns the state of the next revision (C4, C7): forked from the checkpoint, held, and looked at
// through the migrations. Nothing is written into it before it is released.

import { reasonText } from "@agenttx/engine";
import { effectIdOf, encodeEffect } from "@agenttx/ledger";
import { AgentTxError, type EffectRecord, type RecordWrite, type Write } from "@agenttx/model";
import type { Checkpoint } from "./checkpoint.js";
import { chooseCheckpoint } from "./choose-checkpoint.js";
import type { RecoveryCore } from "./core.js";
import { checkInvariants, failedInvariants, type InvariantResult } from "./invariant.js";
import { type EffectsOf, ledgerOf, lineageOf, type Segment } from "./lineage.js";
import { migrate, migrationPath } from "./migrations.js";
import { raiseTo } from "./ownership.js";
import type { CheckpointRef, WorkflowRecord } from "./workflow-record.js";
import { nameOf } from "./workflow-store.js";

/** What the new revision will be. */
export interface Restored {
  readonly transaction: string;
  readonly checkpoint: Checkpoint;
  readonly invariants: readonly InvariantResult[];
  /** What the migrations write, for the batch that releases it. */
  readonly writes: readonly Write[];
  /** Why it cannot be resumed; null when all is well. */
  readonly problem: string | null;
}

/**
 * Forks once, also when it is called again after a crash, and evaluates. A migration or invariant
 * that fails is a problem for a person; storage and ownership errors are thrown.
 * REQUIRES: a plan was applied, and nothing of it is open.
 */
export async function restore(
  core: RecoveryCore,
  record: WorkflowRecord,
  effectsOf: EffectsOf,
): Promise<Restored> {
  const ref = record.run?.checkpoint ?? null;
  const transaction = record.run?.nextTransaction ?? null;
  if (ref === null || transaction === null) {
    throw new AgentTxError("INTERNAL", `Workflow ${record.workflow} has no plan to restore.`);
  }
  const lineage = lineageOf(record);
  const { checkpoint, from, source } = await chooseCheckpoint(core, record, lineage, ref);
  const name = nameOf(record, { transaction });
  const staged = await inheritedEffects(effectsOf, lineage, source, transaction);
  const fork = { ...record.begin, from, nextEffect: staged.length + 1 };
  await core.revisions.fork(name, fork, { records: staged });
  await raiseTo(core, name, record.recovery.fencingToken);
  const path = migrationPath(checkpoint.schemaVersion, core.schemaVersion, core.migrations);
  const present = lineage.flatMap((segment) => standing(segment, ref));
  return core.revisions.read(name, async (view) => {
    try {
      const migrated = await migrate(view, path, core.migrations);
      const ledger = await ledgerOf(effectsOf, present);
      const invariants = await checkInvariants(core.invariants, migrated.view, ledger);
      const problem = failedInvariants(invariants);
      return { transaction, checkpoint, invariants, writes: migrated.writes, problem };
    } catch (error) {
      const problem = `A migration failed: ${reasonText(error).slice(0, 240)}`;
      return { transaction, checkpoint, invariants: [], writes: [], problem };
    }
  });
}

/** The part of a segment that stays, when going back to the checkpoint. */
function standing(segment: Segment, { revision, step }: CheckpointRef): readonly Segment[] {
  if (segment.revision > revision) return [];
  return [segment.revision === revision ? { ...segment, upTo: step } : segment];
}

/**
 * Staged effects up to the checkpoint leave with the new revision's commit: copies under its own
 * numbers and the same idempotency keys, at step 0, which no rewind takes back.
 */
async function inheritedEffects(
  effectsOf: EffectsOf,
  lineage: readonly Segment[],
  { revision, step }: CheckpointRef,
  transaction: string,
): Promise<readonly RecordWrite[]> {
  const segment = lineage.find((one) => one.revision === revision);
  if (segment === undefined) return [];
  const effects = await effectsOf(segment);
  const staged = effects.filter((one) => one.state === "staged" && one.step <= step);
  return staged.map((effect, index) => {
    const seq = index + 1;
    const effectId = effectIdOf(transaction, seq);
    const copy: EffectRecord = { ...effect, effectId, transaction, step: 0 };
    return { space: "effect", seq, value: encodeEffect(copy) };
  });
}
