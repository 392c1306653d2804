// Owns one try of sending one staged effect, and what follows from it (E7).
//
//   D1 The try is counted durably before the call, the row goes away only in the batch that records
//      the acknowledgement (bug 43): a crash anywhere leads to another try with the same key.
//   D2 After a try whose end is not known, the tool's lookup is asked first where it has one.

import type { EffectRecord, JsonValue } from "@agenttx/model";
import { RECEIPT_BYTES_MAX, toJson } from "../json-text.js";
import { committedState } from "./committed-state.js";
import type { AnyTool } from "./contract.js";
import { type EffectsCore, waitAfter } from "./core.js";
import { Stopped, withDeadline } from "./deadline.js";
import { effectAudit } from "./effect-audit.js";
import { change, tell } from "./effect-change.js";
import { effectWrites, type LedgerWriter } from "./effect-store.js";
import { lookUp } from "./lookup.js";
import { type OutboxEntry, putRow, removeRow } from "./outbox-row.js";
import { problemText } from "./problem-text.js";
import { fillSecrets } from "./secrets.js";

export type SendResult =
  | { readonly kind: "delivered" }
  | { readonly kind: "failed"; readonly problem: string; readonly row: OutboxEntry }
  | { readonly kind: "parked"; readonly problem: string };

export interface Sending {
  readonly writer: LedgerWriter;
  readonly row: OutboxEntry;
  readonly effect: EffectRecord;
  readonly stop: AbortSignal;
}

/** Throws Stopped and storage errors only. */
export async function sendStaged(core: EffectsCore, sending: Sending): Promise<SendResult> {
  const { row, effect, writer } = sending;
  const tool = core.tools.find(effect.tool, effect.namespace);
  if (tool === null) {
    const problem = `Tool "${effect.tool}" (version ${effect.toolVersion}) is not registered in this deployment. It is sent when the tool is back.`;
    return park(core, sending, problem, "tool");
  }
  if (row.failedTries > 0 && tool.lookup !== undefined) {
    const finding = await lookUp(core, effect, { tries: 1, stop: sending.stop });
    if (finding.kind === "landed") return acknowledge(core, sending, finding.output ?? null);
  }
  const failedTries = row.failedTries + 1;
  const nextAtMs = core.clock.now() + waitAfter(core, failedTries);
  const begun = { ...row, failedTries, nextAtMs };
  await writer.write({ records: [putRow(row.seq, begun)], audit: [] });
  const result = await send(core, sending, tool);
  if (result.kind === "sent") return acknowledge(core, sending, result.output);
  if (failedTries >= core.limits.deliveryTriesMax) {
    const problem = `Not delivered after ${failedTries} tries: ${result.problem}`;
    return park(core, { ...sending, row: begun }, problem, "person");
  }
  const audit = [effectAudit(effect, "deliver-failed", core.clock.now(), { why: result.problem })];
  await writer.write({ records: [], audit });
  return { kind: "failed", problem: result.problem, row: begun };
}

type Sent =
  | { readonly kind: "sent"; readonly output: JsonValue }
  | { readonly kind: "not-sent"; readonly problem: string };

async function send(core: EffectsCore, sending: Sending, tool: AnyTool): Promise<Sent> {
  const { effect, row } = sending;
  const limit = { ms: tool.deadlineMs ?? core.limits.toolDeadlineMs, outer: sending.stop };
  const used = new Set<string>();
  const raced = await withDeadline(core.clock, limit, async (signal) => {
    const args = await fillSecrets(effect.request, effect.secretPaths, core.secrets, used);
    // The registry forgets argument types; these arguments passed the tool's schema once.
    return tool.execute(args as never, {
      transaction: effect.transaction,
      namespace: effect.namespace,
      step: effect.step,
      attempt: effect.attempt,
      idempotencyKey: effect.idempotencyKey,
      signal,
      state: committedState(core.store, row.namespace),
      registerUndo: () => {
        throw new TypeError("A staged effect has no undo");
      },
    });
  });
  if (raced.kind === "returned") return { kind: "sent", output: jsonOrNull(raced.value) };
  if (raced.kind === "threw") return { kind: "not-sent", problem: problemText(raced.error, used) };
  raced.late.catch(() => undefined);
  if (raced.why === "aborted") throw new Stopped();
  return { kind: "not-sent", problem: `no answer within ${limit.ms} ms` };
}

/** It was delivered, whatever it returned: a receipt that is no JSON is kept as null. */
function jsonOrNull(value: unknown): JsonValue {
  try {
    return toJson(value ?? null, RECEIPT_BYTES_MAX).value;
  } catch {
    return null;
  }
}

async function acknowledge(
  core: EffectsCore,
  { effect, row, writer }: Sending,
  receipt: JsonValue,
): Promise<SendResult> {
  const now = core.clock.now();
  const note = `Delivered after ${row.failedTries + 1} tries.`;
  const resolution = { kind: "happened", actor: "system", note, atMs: now } as const;
  const after =
    effect.state === "unresolved"
      ? change(core, effect, { type: "resolve", resolution, receipt })
      : change(core, effect, { type: "confirm", receipt, undoUntilMs: null });
  await writer.write({
    records: [...effectWrites(effect, after, []), removeRow(row.seq)],
    audit: [effectAudit(after, "deliver", now)],
  });
  tell(core, "effect-delivered", after, { tries: row.failedTries + 1 });
  if (effect.state === "unresolved") tell(core, "effect-resolved", after, { kind: "happened" });
  return { kind: "delivered" };
}

/** Set aside, listed as unresolved; the row keeps the effect from being forgotten. */
async function park(
  core: EffectsCore,
  { effect, row, writer }: Sending,
  problem: string,
  waitsFor: "person" | "tool",
): Promise<SendResult> {
  const doubt = effect.state === "requested" ? change(core, effect, { type: "lose" }) : effect;
  const open =
    doubt.state === "unresolved"
      ? doubt
      : change(core, doubt, { type: "give-up", problem, waitsFor });
  const listing = { failedTries: row.failedTries, nextAtMs: null };
  await writer.write({
    records: [
      ...effectWrites(effect, open, [], listing),
      putRow(row.seq, { ...row, parked: true }),
    ],
    audit: [effectAudit(open, "park", core.clock.now(), { why: problem })],
  });
  tell(core, "effect-parked", open, { waitsFor });
  return { kind: "parked", problem };
}
