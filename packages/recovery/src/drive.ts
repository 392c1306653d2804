// Owns the stages between an applied plan and the new revision (C2, C4). Each one ends in a durable
// state from which this same code goes on after a crash.
//
//   D1 Whoever drives holds the newest fencing token; another coordinator is stopped by storage.
//   D2 Compensation is the engine's: durable, retried, verified, and never run twice once confirmed.
//   D3 Recovered means: nothing is open anywhere, and the invariants hold on what will be resumed.
//   D4 What was restored for one stage is what the next one releases: nobody else writes to the fork
//      while its token is held (D1). After a crash, or when somebody resumes later, it is looked at again.

import { advanceRecovery, type RecoveryEvent } from "@agenttx/ledger";
import { AgentTxError, type EffectRecord } from "@agenttx/model";
import { checkpointWrite, firstCheckpoint } from "./checkpoint.js";
import type { RecoveryCore } from "./core.js";
import { type EffectsOf, ledgersOnce, lineageOf, scopeOf, unsettledOf } from "./lineage.js";
import { asRunning, raiseTo } from "./ownership.js";
import { type Restored, restore } from "./restore.js";
import { SYSTEM, type WorkflowEvent } from "./workflow-audit.js";
import type { RecoveryRun, WorkflowRecord } from "./workflow-record.js";
import { nameOf, saveWorkflow } from "./workflow-store.js";

/** Goes on as far as it goes. REQUIRES: the caller has just taken the workflow (D1). */
export async function drive(core: RecoveryCore, from: WorkflowRecord): Promise<WorkflowRecord> {
  let restored: Restored | null = null;
  for (let record = from; ; ) {
    const { state } = record.recovery;
    if (record.run?.checkpoint === null || record.run === null || state === "Frozen") return record;
    if (state === "Running" || (state === "Recovered" && !record.run.resume)) return record;
    const next: Staged = await stage(core, record, record.run, restored);
    if (next.record.recovery.state === state) return next.record;
    ({ record, restored } = next);
  }
}

/**
 * True when everything was tried and something is still open: the background and people work on that,
 * and tell when it is settled. Nobody has to take the workflow for it.
 */
export async function onlyWaits(core: RecoveryCore, record: WorkflowRecord): Promise<boolean> {
  if (record.recovery.state !== "Reconciliation" || record.run?.tried !== true) return false;
  const { untried, open } = await openOf(ledgersOnce(core), record);
  return untried.length === 0 && open.length > 0;
}

/** What a stage ends in; `restored` is what it looked at (D4). */
interface Staged {
  readonly record: WorkflowRecord;
  readonly restored: Restored | null;
}

async function stage(
  core: RecoveryCore,
  record: WorkflowRecord,
  run: RecoveryRun,
  restored: Restored | null,
): Promise<Staged> {
  switch (record.recovery.state) {
    case "Compensating":
      return compensateAll(core, record, run);
    case "Reconciliation":
      return reconcile(core, record, run);
    default:
      return { record: await release(core, record, restored), restored: null };
  }
}

async function compensateAll(
  core: RecoveryCore,
  record: WorkflowRecord,
  run: RecoveryRun,
): Promise<Staged> {
  await settleScope(core, record);
  return leave(core, record, { ...run, tried: true }, "compensated", ledgersOnce(core));
}

/** Null-change when something is still open: the background and people work on that. */
async function reconcile(
  core: RecoveryCore,
  record: WorkflowRecord,
  run: RecoveryRun,
): Promise<Staged> {
  let effectsOf = ledgersOnce(core);
  const { untried } = await openOf(effectsOf, record);
  if (!run.tried || untried.length > 0) {
    await settleScope(core, record);
    effectsOf = ledgersOnce(core);
  }
  return leave(core, record, { ...run, tried: true }, "reconciled", effectsOf);
}

/** Undoes everything after the checkpoint that can be, newest revision first. */
async function settleScope(core: RecoveryCore, record: WorkflowRecord): Promise<void> {
  const ref = record.run?.checkpoint;
  if (ref === undefined || ref === null) return;
  const { fencingToken } = record.recovery;
  for (const scope of scopeOf(lineageOf(record), ref)) {
    await raiseTo(core, scope, fencingToken);
    await core.revisions.compensate(scope, scope.fromStep, fencingToken);
  }
}

function openOf(effectsOf: EffectsOf, record: WorkflowRecord) {
  const lineage = lineageOf(record);
  const ref = record.run?.checkpoint;
  const scope = ref === undefined || ref === null ? [] : scopeOf(lineage, ref);
  return unsettledOf(effectsOf, lineage, scope);
}

/** Decides where to from what is open now, and makes it durable with its reason. */
async function leave(
  core: RecoveryCore,
  record: WorkflowRecord,
  run: RecoveryRun,
  type: "compensated" | "reconciled",
  effectsOf: EffectsOf,
): Promise<Staged> {
  const { open } = await openOf(effectsOf, record);
  const restored = open.length === 0 ? await restore(core, record, effectsOf) : null;
  const problem = restored?.problem ?? null;
  const invariantsHold = restored !== null && problem === null;
  const event: RecoveryEvent = { type, open: open.length, invariantsHold };
  const moved = advanceRecovery(record.recovery, event, core.clock.now());
  const recovery = moved.ok ? moved.record : record.recovery;
  const after = { ...record, recovery, run: { ...run, problem } };
  if (!moved.ok && run.tried === record.run?.tried && problem === record.run.problem) {
    return { record, restored };
  }
  const told = tell(type, recovery.state, open, problem);
  const actor = actorOf(record, type, await resolvers(effectsOf, record));
  const saved = await saveWorkflow(core, record, after, {
    event: { event: moved.ok ? type : "waiting", actor, ...told },
  });
  return { record: saved, restored };
}

function tell(
  type: "compensated" | "reconciled",
  state: string,
  open: readonly EffectRecord[],
  problem: string | null,
): Pick<WorkflowEvent, "why" | "data"> {
  const effects = open.map(({ effectId }) => effectId);
  if (open.length > 0) {
    const why = `${open.length} effects stay unresolved: they are retried or wait for a person`;
    return { why, data: { open: effects } };
  }
  if (problem !== null) return { why: `Nothing is open, but: ${problem}`, data: { open: [] } };
  const how = type === "compensated" ? "Everything is undone" : "The last open item is settled";
  return { why: `${how} and the invariants hold: ${state}`, data: { open: [] } };
}

/** A late success is a resolution by the system (C2); a person's is named. */
function actorOf(record: WorkflowRecord, type: string, people: readonly string[]): string {
  if (type === "compensated") return record.recovery.owner;
  return people.at(-1) ?? SYSTEM;
}

async function resolvers(effectsOf: EffectsOf, record: WorkflowRecord): Promise<readonly string[]> {
  const since = record.run?.requestedAtMs ?? 0;
  const found: { readonly actor: string; readonly atMs: number }[] = [];
  for (const segment of lineageOf(record)) {
    for (const { resolution } of await effectsOf(segment)) {
      if (resolution !== null && resolution.atMs >= since) found.push(resolution);
    }
  }
  return found.sort((one, other) => one.atMs - other.atMs).map(({ actor }) => actor);
}

/** Recovered -> Running: one batch makes the held fork the current revision. */
async function release(
  core: RecoveryCore,
  record: WorkflowRecord,
  looked: Restored | null,
): Promise<WorkflowRecord> {
  const restored = looked ?? (await restore(core, record, ledgersOnce(core)));
  if (restored.problem !== null) return refuseRelease(core, record, restored.problem);
  const { transaction } = restored;
  const running = asRunning(core, record, transaction);
  const first = firstCheckpoint(core, running.recovery.revision, restored.invariants);
  const resumed = await saveWorkflow(core, record, running, {
    through: nameOf(record, { transaction }),
    hold: false,
    records: [checkpointWrite(record.workflow, first)],
    writes: restored.writes,
    event: resumedEvent(record, restored),
  });
  tellRecovered(core, record);
  return resumed;
}

function tellRecovered(core: RecoveryCore, { workflow, namespace, run }: WorkflowRecord): void {
  const durationMs = Math.max(core.clock.now() - (run?.requestedAtMs ?? 0), 0);
  try {
    core.onRecovered({ workflow, namespace, durationMs });
  } catch {
    // An observer decides nothing: the resume is durable.
  }
}

function resumedEvent(record: WorkflowRecord, restored: Restored): WorkflowEvent {
  const { revision, step, name } = restored.checkpoint;
  const base = { revision, step, name };
  const replaces = record.revisions.at(-1)?.transaction ?? null;
  const why = `Goes on from checkpoint "${name}" (revision ${revision}, step ${step})`;
  const migrated = restored.writes.length;
  const { owner: actor } = record.recovery;
  return { event: "resumed", actor, why, data: { base, replaces, migratedKeys: migrated } };
}

async function refuseRelease(
  core: RecoveryCore,
  record: WorkflowRecord,
  problem: string,
): Promise<WorkflowRecord> {
  if (record.run === null) throw new AgentTxError("INTERNAL", "A recovered workflow has no run.");
  const after = { ...record, run: { ...record.run, problem } };
  return saveWorkflow(core, record, after, {
    event: { event: "waiting", actor: SYSTEM, why: `It cannot resume: ${problem}` },
  });
}
