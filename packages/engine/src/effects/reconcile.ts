// Owns what people see and decide about effects that stay open (C6).

import { effectIdOf } from "@agenttx/ledger";
import {
  AgentTxError,
  type EffectRecord,
  type Resolution,
  type ResolutionKind,
} from "@agenttx/model";
import type { EffectName, EffectsPort } from "./contract.js";
import { type EffectsCore, transactionKey } from "./core.js";
import { effectAudit } from "./effect-audit.js";
import { change, tell } from "./effect-change.js";
import {
  effectWrites,
  type LedgerWriter,
  openWriter,
  readEffect,
  readUndo,
} from "./effect-store.js";
import { agePosition, type OpenEntry, openEntries, openName } from "./open-list.js";
import { deliverRows } from "./outbox.js";
import { type OutboxEntry, outboxRows, putRow, removeRow } from "./outbox-row.js";
import { retryOpen } from "./retry-open.js";
import { factsOf } from "./tool-facts.js";

const LIMIT_DEFAULT = 100;

/** Everything that waits for a person or a retry, oldest first. Damaged records are left out. */
export async function listUnresolved(
  core: EffectsCore,
  page: Parameters<EffectsPort["listUnresolved"]>[0] = {},
): Promise<EffectRecord[]> {
  const limit = page.limit ?? LIMIT_DEFAULT;
  const after = page.after === undefined ? null : await requireEffect(core, page.after);
  const entries: OpenEntry[] = [];
  const namespaces = page.namespace === undefined ? await core.namespaces.list() : [page.namespace];
  for (const namespace of namespaces) {
    const afterName = after === null ? null : positionIn(namespace, page.after, after);
    let count = 0;
    for await (const entry of openEntries(
      core.store,
      namespace,
      afterName === null ? null : { afterName },
    )) {
      entries.push(entry);
      count += 1;
      if (count >= limit) break;
    }
  }
  entries.sort(byAge);
  const found: EffectRecord[] = [];
  for (const entry of entries.slice(0, limit)) {
    const effect = await readOrNull(core, entry);
    if (effect !== null) found.push(effect);
  }
  return found;
}

function byAge(one: OpenEntry, other: OpenEntry): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  if (one.transaction !== other.transaction) return one.transaction < other.transaction ? -1 : 1;
  return one.seq - other.seq;
}

/** Where a page that follows `after` begins in this namespace, in the order of `byAge`. */
function positionIn(namespace: string, name: EffectName | undefined, after: EffectRecord): string {
  const own = name?.namespace ?? "";
  if (namespace === own) return openName(after);
  return agePosition(after.createdAtMs, namespace < own);
}

async function readOrNull(core: EffectsCore, name: EffectName): Promise<EffectRecord | null> {
  try {
    return await readEffect(core.store, name);
  } catch {
    // Damaged: reported by every settlement of its transaction; here it hides no other.
    return null;
  }
}

async function requireEffect(core: EffectsCore, name: EffectName): Promise<EffectRecord> {
  const effect = await readEffect(core.store, name);
  if (effect !== null) return effect;
  const effectId = effectIdOf(name.transaction, name.seq);
  throw new AgentTxError("NOT_FOUND", `There is no effect ${effectId}; nothing was changed.`, {
    details: { effect: effectId },
  });
}

/** Records a resolution. See EffectsPort.resolve. */
export async function resolve(
  core: EffectsCore,
  name: EffectName,
  resolution: Resolution,
): Promise<EffectRecord> {
  checkResolution(resolution);
  return core.exclusive.run(transactionKey(name), async () => {
    const effect = await requireEffect(core, name);
    if (effect.state !== "unresolved") return answerSettled(effect, resolution);
    const writer = await openWriter(core.store, name, null);
    try {
      const row = await rowOf(core, name);
      if (row !== null) return await resolveDelivery(core, { writer, effect, row, resolution });
      const again =
        resolution.kind === "retry" ||
        (resolution.kind === "happened" && !effect.outcomeKnown && canUndo(core, effect));
      if (again) return await undoNow(core, { writer, name, effect, resolution });
      return await settleAs(core, { writer, name, effect, resolution });
    } finally {
      await writer.close();
    }
  });
}

const KINDS: readonly unknown[] = [
  "happened",
  "did-not-happen",
  "compensated-by-hand",
  "accepted-as-is",
  "retry",
] satisfies readonly ResolutionKind[];

/** Types hold for callers that have them; what is stored must be readable whoever calls. */
function checkResolution({ kind, actor, note, atMs }: Resolution): void {
  const isText = (text: unknown): boolean => typeof text === "string" && text.trim() !== "";
  if (KINDS.includes(kind) && isText(actor) && isText(note) && Number.isFinite(atMs)) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "A resolution names its kind, its actor, a note and a time; nothing was changed.",
    { details: { field: "resolution" } },
  );
}

/** Equal to what was recorded: harmless. Anything else about a settled effect: refused (C6). */
function answerSettled(effect: EffectRecord, resolution: Resolution): EffectRecord {
  const before = effect.resolution;
  if (before !== null && isEqual(before, resolution)) return effect;
  const told =
    before === null
      ? `it is ${effect.state}`
      : `${before.actor} recorded "${before.kind}" (${before.note})`;
  throw new AgentTxError(
    "RESOLUTION_CONFLICT",
    `Effect ${effect.effectId} is not open: ${told}. Nothing was changed.`,
    { details: { effect: effect.effectId, state: effect.state } },
  );
}

function isEqual(one: Resolution, other: Resolution): boolean {
  return one.kind === other.kind && one.actor === other.actor && one.note === other.note;
}

function canUndo(core: EffectsCore, effect: EffectRecord): boolean {
  const facts = factsOf(core.tools, effect.tool, effect.namespace);
  // A missing tool is waited for: the undo goes on when it is back.
  return (
    effect.effectClass === "reversible" &&
    (facts === null || facts.compensate || facts.actions.length > 0)
  );
}

async function rowOf(core: EffectsCore, name: EffectName): Promise<OutboxEntry | null> {
  for await (const row of outboxRows(core.store, name)) if (row.seq === name.seq) return row;
  return null;
}

interface Deciding {
  readonly writer: LedgerWriter;
  readonly effect: EffectRecord;
  readonly resolution: Resolution;
}

/** Tries at once with the person's word for it, durable first. */
async function undoNow(
  core: EffectsCore,
  { writer, name, effect, resolution }: Deciding & { readonly name: EffectName },
): Promise<EffectRecord> {
  const { kind, actor, note: why } = resolution;
  const audit = (after: EffectRecord): Uint8Array =>
    effectAudit(after, `resolve:${kind}`, core.clock.now(), { actor, why });
  // A retry of an unknown outcome asks the lookup again; nothing is undone on a guess (E5).
  const known = effect.outcomeKnown || kind === "happened";
  if (known && effect.effectClass === "reversible") {
    const after = change(core, effect, { type: "compensate", resolution });
    const records = effectWrites(effect, after, [], { failedTries: 0, nextAtMs: core.clock.now() });
    await writer.write({ records, audit: [audit(after)] });
  } else {
    await writer.write({ records: [], audit: [audit(effect)] });
  }
  const due = [{ transaction: name.transaction, seq: name.seq, failedTries: 0 }];
  await retryOpen(core, name, due, core.limits.inlineTries);
  return requireEffect(core, name);
}

async function settleAs(
  core: EffectsCore,
  { writer, name, effect, resolution }: Deciding & { readonly name: EffectName },
): Promise<EffectRecord> {
  const { kind, actor, note: why } = resolution;
  const after = change(core, effect, { type: "resolve", resolution });
  const { undo } = await readUndo(core.store, name);
  const own = undo.filter(({ effectId }) => effectId === effect.effectId);
  await writer.write({
    records: effectWrites(effect, after, own),
    audit: [effectAudit(after, `resolve:${kind}`, core.clock.now(), { actor, why })],
  });
  tell(core, "effect-resolved", after, { kind, actor });
  return after;
}

/** A parked delivery: sent again, or settled and taken out of the outbox. */
async function resolveDelivery(
  core: EffectsCore,
  { writer, effect, row, resolution }: Deciding & { readonly row: OutboxEntry },
): Promise<EffectRecord> {
  const { kind, actor, note: why } = resolution;
  const now = core.clock.now();
  const audit = [effectAudit(effect, `resolve:${kind}`, now, { actor, why })];
  if (kind === "retry") {
    const again = { failedTries: 0, nextAtMs: now, parked: false };
    await writer.write({ records: [putRow(row.seq, again)], audit });
    await deliverRows(core, row, {
      tries: 1,
      untilMs: core.clock.monotonic(),
      stop: core.closing,
      progress: { delivered: 0, pending: 0, errors: new Map() },
    });
    return requireEffect(core, row);
  }
  const after = change(core, effect, { type: "resolve", resolution });
  const records = [...effectWrites(effect, after, []), removeRow(row.seq)];
  await writer.write({ records, audit });
  tell(core, "effect-resolved", after, { kind, actor });
  return after;
}
