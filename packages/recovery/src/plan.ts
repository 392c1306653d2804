// Owns the plan of a recovery (C5): what is undone in which order, what is looked up first, what
// cannot be undone and what needs a person. Making one changes nothing.
//
//   I1 The digest covers the fencing token, the checkpoint and the basis of each ledger: applying a
//      plan whose basis has changed is refused.
//   I2 Newest revision first, newest effect first: a reverse dependency order.

import { createHash } from "node:crypto";
import { type CompensationPlan, canonicalJson, isOpen, planCompensation } from "@agenttx/ledger";
import type { EffectRecord, JsonValue, LocalMutation, RecoveryPlan } from "@agenttx/model";
import {
  type CheckpointChoice,
  type ChosenCheckpoint,
  chooseCheckpoint,
} from "./choose-checkpoint.js";
import type { RecoveryCore } from "./core.js";
import { lineageOf, type Scope, scopeOf } from "./lineage.js";
import { migrationPath } from "./migrations.js";
import { auditEntries } from "./workflow-audit.js";
import type { WorkflowRecord } from "./workflow-record.js";

export type { LocalMutation, RecoveryPlan } from "@agenttx/model";

/** A plan, and what applying it needs beside it. */
export interface PlannedRecovery {
  readonly plan: RecoveryPlan;
  readonly chosen: ChosenCheckpoint;
}

/** Throws NOT_FOUND and INVALID_ARGUMENT about the checkpoint, MIGRATION_MISSING. */
export async function planRecovery(
  core: RecoveryCore,
  record: WorkflowRecord,
  choice: CheckpointChoice,
): Promise<PlannedRecovery> {
  const lineage = lineageOf(record);
  const chosen = await chooseCheckpoint(core, record, lineage, choice);
  const { revision, step, name, schemaVersion } = chosen.checkpoint;
  const migrations = migrationPath(schemaVersion, core.schemaVersion, core.migrations);
  const scope = scopeOf(lineage, { revision, step });
  const parts: Part[] = [];
  for (const one of scope) parts.push(await planPart(core, one));
  // Open effects before the checkpoint are not undone, but nothing resumes while one is open.
  const rest = lineage.filter(({ revision: own }) => own < revision);
  for (const one of rest) parts.push(await planPart(core, { ...one, fromStep: Infinity }));
  const content = {
    v: 1 as const,
    workflow: record.workflow,
    namespace: record.namespace,
    state: record.recovery.state,
    fencingToken: `${record.recovery.fencingToken}`,
    revision: record.recovery.revision,
    checkpoint: { revision, step, name, schemaVersion },
    migrations,
    mutations: parts.flatMap(({ mutations }) => mutations),
    lookUp: parts.flatMap(({ plan, scope: of }) => plan.lookUp.map((item) => ({ ...item, ...of }))),
    drop: parts.flatMap(({ plan }) => [...plan.drop]),
    undo: parts.flatMap(({ plan, scope: of, byId }) =>
      plan.undo.map((item) => {
        return { ...item, ...of, undoUntilMs: byId.get(item.effectId)?.undoUntilMs ?? null };
      }),
    ),
    cannot: parts.flatMap(({ plan, scope: of }) => plan.cannot.map((item) => ({ ...item, ...of }))),
    needsPerson: parts.flatMap(needsPerson),
    invariants: core.invariants.map((invariant) => invariant.name),
  };
  const basis = parts.map(({ plan }) => plan.digest);
  const digest = sha256(canonicalJson([plain(content), basis]));
  return { plan: { ...content, digest }, chosen };
}

interface Part {
  readonly scope: { readonly revision: number };
  readonly plan: CompensationPlan;
  readonly byId: ReadonlyMap<string, EffectRecord>;
  readonly mutations: readonly LocalMutation[];
}

async function planPart(core: RecoveryCore, scope: Scope): Promise<Part> {
  const all = await core.revisions.effects(scope);
  const effects = all.filter(({ step, state }) => {
    return (step >= scope.fromStep && step <= scope.upTo) || isOpen(state);
  });
  const plan = planCompensation({
    effects,
    undoActions: await core.revisions.undoActions(scope),
    fromStep: 0,
    nowMs: core.clock.now(),
    factsOf: (tool) => core.revisions.undoFacts(tool, scope.namespace),
    hash: sha256,
  });
  const byId = new Map(effects.map((effect) => [effect.effectId, effect]));
  const mutations = await mutationsOf(core, scope);
  return { scope: { revision: scope.revision }, plan, byId, mutations };
}

function needsPerson({ plan, byId }: Part): RecoveryPlan["needsPerson"] {
  const waiting = [
    ...plan.lookUp.filter(({ canLookUp }) => !canLookUp),
    ...plan.cannot.filter(({ reason }) => reason !== "tool-missing" && reason !== "action-missing"),
  ];
  return waiting.map(({ effectId }) => ({ effectId, owner: byId.get(effectId)?.owner ?? null }));
}

/** Steps of the part that stand, newest first, from the audit chain. */
async function mutationsOf(core: RecoveryCore, scope: Scope): Promise<LocalMutation[]> {
  const steps = new Map<number, string>();
  for await (const { entry } of auditEntries(core.store, scope)) {
    if (entry.k === "step" && typeof entry.s === "number" && typeof entry.t === "string") {
      steps.set(entry.s, entry.t);
    }
    const to = entry.k === "rewound" ? Number(entry.to) : entry.k === "abort" ? 0 : null;
    if (to !== null) for (const step of steps.keys()) if (step >= to) steps.delete(step);
  }
  return [...steps]
    .filter(([step]) => step >= scope.fromStep && step <= scope.upTo)
    .sort(([one], [other]) => other - one)
    .map(([step, tool]) => ({ revision: scope.revision, step, tool }));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Interfaces are no index types, so a plan goes through JSON once. */
export function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
