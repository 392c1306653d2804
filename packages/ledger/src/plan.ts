// Owns the compensation plan (C5, E8): what is looked up, dropped, undone, and what cannot be.
//
//   I1 Newest first, by the durable sequence, never by a clock.
//   I2 What cannot be taken back is named with its reason and never counted as undone.
//   I3 An effect waits only for effects that explicitly used its result (`dependsOn`).

import type { EffectRecord, UndoAction } from "@agenttx/model";
import { canonicalJson } from "./canonical.js";
import { isSettled } from "./durability.js";
import { effectSeqOf } from "./effect-id.js";
import type {
  CannotItem,
  CannotReason,
  CompensationPlan,
  LookUpItem,
  PlanInput,
  UndoFacts,
  UndoItem,
} from "./plan-types.js";

type Placed =
  | { readonly kind: "look-up"; readonly item: LookUpItem }
  | { readonly kind: "drop"; readonly effectId: string }
  | { readonly kind: "undo"; readonly item: UndoItem }
  | { readonly kind: "cannot"; readonly item: CannotItem };

/** The plan for every effect of steps >= fromStep that is not settled. Pure and deterministic. */
export function planCompensation(input: PlanInput): CompensationPlan {
  const effects = newestFirst(input.effects).filter(
    (effect) => effect.step >= input.fromStep && !isSettled(effect.state),
  );
  const actionsOf = groupByEffect(input.undoActions);
  const placed = effects.map((effect) =>
    place(effect, actionsOf.get(effect.effectId) ?? [], input),
  );
  const lookUp = placed.flatMap((one) => (one.kind === "look-up" ? [one.item] : []));
  const cannot = placed.flatMap((one) => (one.kind === "cannot" ? [one.item] : []));
  const held = [...lookUp, ...cannot].map(({ effectId }) => effectId);
  const undo = withBlockers(
    placed.flatMap((one) => (one.kind === "undo" ? [one.item] : [])),
    effects,
    held,
  );
  const drop = placed.flatMap((one) => (one.kind === "drop" ? [one.effectId] : []));
  const content = { v: 1 as const, fromStep: input.fromStep, lookUp, drop, undo, cannot };
  const basis = effects.map(({ effectId, state, undone }) => [effectId, state, [...undone]]);
  return { ...content, digest: input.hash(canonicalJson([planText(content), basis])) };
}

/** Effects by falling sequence. */
export function newestFirst(effects: readonly EffectRecord[]): EffectRecord[] {
  return [...effects].sort((one, other) => effectSeqOf(other.effectId) - effectSeqOf(one.effectId));
}

/** Undo actions by effect, newest first. */
export function groupByEffect(actions: readonly UndoAction[]): Map<string, UndoAction[]> {
  const groups = new Map<string, UndoAction[]>();
  for (const action of [...actions].sort((one, other) => other.seq - one.seq)) {
    const group = groups.get(action.effectId);
    if (group === undefined) groups.set(action.effectId, [action]);
    else group.push(action);
  }
  return groups;
}

/**
 * Marks what waits: an item whose result a held effect used, and in turn what that item used,
 * because it is then not undone either. INVARIANT: `items` are newest first, so a dependant comes
 * before what it used.
 */
function withBlockers(
  items: readonly UndoItem[],
  effects: readonly EffectRecord[],
  held: readonly string[],
): UndoItem[] {
  const byId = new Map(effects.map((effect) => [effect.effectId, effect]));
  const blockers = new Map<string, string[]>();
  const block = (by: string): void => {
    for (const used of byId.get(by)?.dependsOn ?? []) {
      const list = blockers.get(used);
      if (list === undefined) blockers.set(used, [by]);
      else list.push(by);
    }
  };
  for (const effectId of held) block(effectId);
  return items.map((item) => {
    const blockedBy = blockers.get(item.effectId) ?? [];
    if (blockedBy.length > 0) block(item.effectId);
    return { ...item, blockedBy };
  });
}

function place(effect: EffectRecord, actions: readonly UndoAction[], input: PlanInput): Placed {
  if (effect.state === "staged") return { kind: "drop", effectId: effect.effectId };
  const facts = input.factsOf(effect.tool);
  const { effectId, step, tool, toolVersion } = effect;
  const named = { effectId, step, tool, toolVersion };
  if (!effect.outcomeKnown) {
    return { kind: "look-up", item: { ...named, canLookUp: facts?.lookup ?? false } };
  }
  const reason = whyNot(effect, actions, facts, input.nowMs);
  if (reason !== null) {
    const explanation = explain(reason, effect);
    const item = { ...named, reason, explanation, forwardRecovery: effect.forwardRecovery };
    return { kind: "cannot", item };
  }
  const open = actions.filter(({ seq }) => !effect.undone.includes(seq));
  const toRun = open.map(({ seq, action }) => ({ seq, action }));
  return { kind: "undo", item: { ...named, actions: toRun, blockedBy: [] } };
}

/** Null when it can be undone now. A person's `retry` overrules time, `ask` and earlier doubts. */
function whyNot(
  effect: EffectRecord,
  actions: readonly UndoAction[],
  facts: UndoFacts | null,
  nowMs: number,
): CannotReason | null {
  const approved = effect.resolution !== null;
  if (effect.effectClass === "irreversible") return "irreversible";
  if (effect.waitsFor === "person" && !approved) return "waits-for-person";
  if (facts === null) return "tool-missing";
  if (actions.length === 0 && facts.actions.length === 0) return "no-undo";
  if (actions.some(({ action }) => !hasAction(facts, action))) return "action-missing";
  if (approved) return null;
  if (effect.undoUntilMs !== null && nowMs > effect.undoUntilMs) return "undo-window-passed";
  return effect.compensation === "ask" ? "ask" : null;
}

function hasAction(facts: UndoFacts, action: string): boolean {
  return action === "compensate" ? facts.compensate : facts.actions.includes(action);
}

function explain(reason: CannotReason, effect: EffectRecord): string {
  const tool = `"${effect.tool}" (version ${effect.toolVersion})`;
  switch (reason) {
    case "irreversible":
      return effect.forwardRecovery === null
        ? `${tool} acted at once and cannot be undone.`
        : `${tool} acted at once and cannot be undone. Forward recovery: ${effect.forwardRecovery}`;
    case "undo-window-passed":
      return `The time in which ${tool} can be undone has passed.`;
    case "ask":
      return `${tool} is undone only when ${effect.owner ?? "a person"} starts it.`;
    case "no-undo":
      return `${tool} offers no undo.`;
    case "tool-missing":
      return `Tool ${tool} is not registered in this deployment. It is undone when the tool is back.`;
    case "action-missing":
      return `Tool ${tool} no longer has an undo action that it registered. It is undone when the action is back.`;
    case "waits-for-person":
      return effect.problem ?? "An earlier try ended with a question to a person.";
  }
}

/** The plan as one text; interfaces are no index types, so it goes through JSON once. */
function planText(content: Omit<CompensationPlan, "digest">): string {
  return canonicalJson(JSON.parse(JSON.stringify(content)));
}
