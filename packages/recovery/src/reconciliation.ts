// Owns what a person sees of a workflow's open effects: the item and its evidence (C6). Resolutions
// go through the engine, which records actor and note.

import { isOpen } from "@agenttx/ledger";
import type { Evidence, JsonValue, ReconciliationItem } from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { lineageOf, type Segment } from "./lineage.js";
import { auditEntries } from "./workflow-audit.js";
import type { WorkflowRecord } from "./workflow-record.js";

export type { Evidence, ReconciliationItem } from "@agenttx/model";

/** Oldest first. */
export async function reconciliationItems(
  core: RecoveryCore,
  record: WorkflowRecord,
): Promise<readonly ReconciliationItem[]> {
  const items: ReconciliationItem[] = [];
  for (const segment of [...lineageOf(record)].reverse()) {
    const effects = await core.revisions.effects(segment);
    const open = effects.filter(({ state, waitsFor }) => isOpen(state) && waitsFor !== null);
    if (open.length === 0) continue;
    const evidence = await evidenceOf(core, segment);
    for (const effect of open) {
      const { effectId, undoUntilMs, forwardRecovery, createdAtMs } = effect;
      items.push({
        workflow: record.workflow,
        revision: segment.revision,
        effect,
        ageMs: Math.max(core.clock.now() - createdAtMs, 0),
        evidence: evidence.get(effectId) ?? [],
        dependants: effects
          .filter(({ dependsOn }) => dependsOn.includes(effectId))
          .map((one) => ({ effectId: one.effectId, state: one.state })),
        undoUntilMs,
        forwardRecovery,
      });
    }
  }
  return items;
}

async function evidenceOf(
  core: RecoveryCore,
  segment: Segment,
): Promise<ReadonlyMap<string, readonly Evidence[]>> {
  const found = new Map<string, Evidence[]>();
  const add = (effectId: unknown, evidence: Evidence): void => {
    if (typeof effectId !== "string") return;
    const list = found.get(effectId);
    if (list === undefined) found.set(effectId, [evidence]);
    else list.push(evidence);
  };
  for await (const { entry } of auditEntries(core.store, segment)) {
    if (entry.k !== "effect") continue;
    const { at, ev, why, actor } = entry;
    add(entry.e, {
      atMs: Number(at),
      event: String(ev),
      why: typeof why === "string" ? why : null,
      actor: typeof actor === "string" ? actor : null,
      late: null,
    });
  }
  for (const late of await lateRows(core, segment)) {
    const { effectId, atMs, kind, error, output, e, at, ev } = late;
    add(effectId ?? e, {
      atMs: Number(atMs ?? at),
      event: String(kind ?? ev),
      why: typeof error === "string" ? error : null,
      actor: null,
      // JSON by construction: it was parsed from the row.
      late: (output ?? null) as JsonValue,
    });
  }
  return found;
}

async function lateRows(
  core: RecoveryCore,
  { transaction, namespace }: Segment,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await core.store.scanRecords("late", { transaction, namespace, limit: 1_000 });
  return rows.flatMap(({ value }) => {
    try {
      const parsed: unknown = JSON.parse(Buffer.from(value).toString("utf8"));
      return typeof parsed === "object" && parsed !== null ? [{ ...parsed }] : [];
    } catch {
      // Evidence of another kind: kept in the store, nothing to show.
      return [];
    }
  });
}
