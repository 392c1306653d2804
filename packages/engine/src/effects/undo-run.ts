// Owns one try of undoing one effect: its actions newest first, then the verification (E8, E9).
//
//   U1 An action that is confirmed in the record is not run again.
//   U2 Every try of an action carries the same undo key, so that the other side can join them.
//   U3 `dirty` ends the try: what someone else changed is never overwritten.

import type { EffectRecord, JsonValue, UndoAction, UndoContext, UndoResult } from "@agenttx/model";
import type { AnyTool } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { Stopped, withDeadline } from "./deadline.js";
import { problemText, stateText } from "./problem-text.js";
import { fillSecrets } from "./secrets.js";

export type UndoTry =
  | { readonly kind: "undone" }
  | { readonly kind: "dirty"; readonly problem: string }
  /** `redo`: the verification saw it still there, so confirmed actions run again. */
  | { readonly kind: "failed"; readonly problem: string; readonly redo: boolean };

export interface UndoRun {
  readonly effect: EffectRecord;
  readonly tool: AnyTool;
  /** Newest first. */
  readonly actions: readonly UndoAction[];
  readonly stop: AbortSignal | null;
  /** Makes a confirmed action durable; not called for the last one, whose batch ends the undo. */
  readonly onConfirmed: (seq: number) => Promise<void>;
}

/** Runs what is left of an effect's undo. Throws Stopped and storage errors only. */
export async function tryUndo(core: EffectsCore, run: UndoRun): Promise<UndoTry> {
  const open = run.actions.filter(({ seq }) => !run.effect.undone.includes(seq));
  for (const [index, action] of open.entries()) {
    const result = await runAction(core, run, action);
    if (result.kind !== "undone") return result;
    if (index < open.length - 1 || run.tool.verify !== undefined) await run.onConfirmed(action.seq);
  }
  return verify(core, run);
}

async function runAction(core: EffectsCore, run: UndoRun, action: UndoAction): Promise<UndoTry> {
  const used = new Set<string>();
  const call = undoCall(core, run, action, used);
  if (call === null) {
    const problem = `Undo action "${action.action}" is not declared by the tool.`;
    return { kind: "failed", problem, redo: false };
  }
  const limit = { ms: run.tool.deadlineMs ?? core.limits.toolDeadlineMs, outer: run.stop };
  const raced = await withDeadline(core.clock, limit, call);
  switch (raced.kind) {
    case "returned":
      return judge(raced.value, used);
    case "threw":
      return { kind: "failed", problem: problemText(raced.error, used), redo: false };
    case "stopped":
      // The same undo key joins the next try with this one, whatever it still does.
      raced.late.catch(() => undefined);
      if (raced.why === "aborted") throw new Stopped();
      return { kind: "failed", problem: `no answer within ${limit.ms} ms`, redo: false };
  }
}

function undoCall(
  core: EffectsCore,
  { effect, tool }: UndoRun,
  action: UndoAction,
  used: Set<string>,
): ((signal: AbortSignal) => Promise<unknown>) | null {
  const undoKey = `${effect.effectId}/undo/${action.seq}`;
  const args = (): Promise<JsonValue> =>
    fillSecrets(action.args, action.secretPaths, core.secrets, used);
  const context = (signal: AbortSignal): UndoContext => contextOf(effect, undoKey, signal);
  if (action.action === "compensate") {
    if (tool.compensate === undefined) return null;
    return async (signal) => {
      const call = { args: await args(), output: effect.receipt };
      // The registry forgets argument types; these arguments passed the tool's schema once.
      return tool.compensate?.(call as never, context(signal));
    };
  }
  const declared = tool.undo ?? {};
  const named = Object.hasOwn(declared, action.action) ? declared[action.action] : undefined;
  if (named === undefined) return null;
  return async (signal) => named(await args(), context(signal));
}

function contextOf(effect: EffectRecord, undoKey: string, signal: AbortSignal): UndoContext {
  const { transaction, namespace, step, effectId, idempotencyKey } = effect;
  return { transaction, namespace, step, effectId, idempotencyKey, undoKey, signal };
}

/** An undo that returns nothing is confirmed by not throwing. */
function judge(value: unknown, used: ReadonlySet<string>): UndoTry {
  if (value === undefined || value === null) return { kind: "undone" };
  const result = value as Partial<UndoResult>;
  if (result.status === "undone" || result.status === "already-undone") return { kind: "undone" };
  if (result.status === "dirty") {
    const problem = `Someone else changed it since; it was not touched. Expected ${stateText(result.expected, used)}; found ${stateText(result.found, used)}`;
    return { kind: "dirty", problem };
  }
  return { kind: "failed", problem: "The undo gave an answer that it may not give.", redo: false };
}

async function verify(core: EffectsCore, run: UndoRun): Promise<UndoTry> {
  const { effect, tool } = run;
  if (tool.verify === undefined) return { kind: "undone" };
  const limit = { ms: core.limits.lookupDeadlineMs, outer: run.stop };
  const used = new Set<string>();
  const raced = await withDeadline(core.clock, limit, async (signal) => {
    const args = await fillSecrets(effect.request, effect.secretPaths, core.secrets, used);
    const call = { args, output: effect.receipt };
    const context = contextOf(effect, `${effect.effectId}/verify`, signal);
    // The registry forgets argument types; these arguments passed the tool's schema once.
    return tool.verify?.(call as never, context);
  });
  if (raced.kind === "returned") {
    if (raced.value === true) return { kind: "undone" };
    return { kind: "failed", problem: "The verification still finds the effect.", redo: true };
  }
  if (raced.kind === "threw") {
    const problem = `The verification failed: ${problemText(raced.error, used)}`;
    return { kind: "failed", problem, redo: false };
  }
  raced.late.catch(() => undefined);
  if (raced.why === "aborted") throw new Stopped();
  const problem = `The verification did not answer within ${limit.ms} ms.`;
  return { kind: "failed", problem, redo: false };
}
