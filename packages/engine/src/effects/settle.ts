// Owns settling effects: drop, look up, plan, undo (E5, E8). Used by rewinds, aborts, recovery, the
// background and people's retries alike.
//
//   T1 Every state is durable before the next call to the outside, so a crash anywhere goes on here.
//   T2 What is confirmed is never run again; what is not done stays `unresolved` and listed.
//   T3 One effect that fails stops no other, except those whose result it explicitly used.
//   REQUIRES: the caller holds the transaction's key in `exclusive`.

import {
  type CannotItem,
  groupByEffect,
  isOpen,
  newestFirst,
  planCompensation,
  restateProblem,
} from "@agenttx/ledger";
import type { CompensationError, EffectRecord, RecordWrite, UndoAction } from "@agenttx/model";
import type { CompensationReport } from "./contract.js";
import { type EffectsCore, waitAfter } from "./core.js";
import { effectAudit } from "./effect-audit.js";
import { change, requireChange, tell } from "./effect-change.js";
import { effectWrites, type LedgerWriter } from "./effect-store.js";
import { findOut } from "./find-out.js";
import type { Listing } from "./open-list.js";
import { sha256Text } from "./sha256.js";
import { factsOf } from "./tool-facts.js";
import { undoEffect } from "./undo-effect.js";

export interface Settlement {
  readonly writer: LedgerWriter;
  readonly effects: readonly EffectRecord[];
  /** Other effects of the transaction: not touched, but one that is open holds back what it used. */
  readonly others: readonly EffectRecord[];
  readonly undo: readonly UndoAction[];
  /** Effects with a damaged undo record: they go to a person. */
  readonly unreadable: ReadonlySet<string>;
  readonly tries: number;
  /** Background only: failed tries of listed effects before this pass. */
  readonly failedBefore: ReadonlyMap<string, number>;
  readonly stop: AbortSignal | null;
}

/** Settles what can be; the report names what stays open. Throws Stopped and storage errors. */
export async function settle(core: EffectsCore, work: Settlement): Promise<CompensationReport> {
  return new SettleRun(core, work).run();
}

/** One pass. `now` holds each effect as it is on disk. */
export class SettleRun {
  readonly core: EffectsCore;
  readonly work: Settlement;
  readonly #now: Map<string, EffectRecord>;
  readonly #actions: ReadonlyMap<string, readonly UndoAction[]>;
  /** Effect -> those that explicitly used its result, of the whole transaction. */
  readonly #users = new Map<string, EffectRecord[]>();
  readonly #errors = new Map<string, CompensationError>();
  #undone = 0;

  constructor(core: EffectsCore, work: Settlement) {
    this.core = core;
    this.work = work;
    const sorted = newestFirst(work.effects);
    this.#now = new Map(sorted.map((effect) => [effect.effectId, effect]));
    this.#actions = groupByEffect(work.undo);
    for (const user of [...work.effects, ...work.others]) {
      for (const used of user.dependsOn) {
        const users = this.#users.get(used);
        if (users === undefined) this.#users.set(used, [user]);
        else users.push(user);
      }
    }
  }

  async run(): Promise<CompensationReport> {
    await this.#dropAndDoubt();
    for (const effect of [...this.#now.values()]) {
      if (isOpen(effect.state) && !effect.outcomeKnown) await findOut(this, effect);
    }
    await this.#undoAll();
    const unresolved = [...this.#now.values()].filter(({ state }) => isOpen(state));
    return {
      run: this.#undone,
      errors: [...this.#errors.values()],
      unresolved: unresolved.map(({ effectId }) => effectId),
    };
  }

  actionsOf(effect: EffectRecord): readonly UndoAction[] {
    return this.#actions.get(effect.effectId) ?? [];
  }

  /** Makes a change durable and takes it over. */
  async save(
    before: EffectRecord,
    after: EffectRecord,
    event: string | null,
    more: { why?: string; actor?: string; listing?: Listing } = {},
  ): Promise<void> {
    const { listing = null, ...why } = more;
    const records = effectWrites(before, after, this.actionsOf(after), listing);
    const audit = event === null ? [] : [effectAudit(after, event, this.core.clock.now(), why)];
    await this.work.writer.write({ records, audit });
    this.#now.set(after.effectId, after);
  }

  /** Open, with the reason; told to the caller as an error. What is known is not written again. */
  async giveUp(
    effect: EffectRecord,
    problem: string,
    waitsFor: "retry" | "person" | "tool",
  ): Promise<void> {
    const { core } = this;
    this.note(effect, problem);
    const same = effect.waitsFor === waitsFor && effect.problem === problem;
    if (effect.state === "unresolved" && same && waitsFor !== "retry") return;
    const failedTries = (this.work.failedBefore.get(effect.effectId) ?? 0) + 1;
    const nextAtMs = waitsFor === "retry" ? core.clock.now() + waitAfter(core, failedTries) : null;
    const open = this.#opened(effect, { problem, waitsFor });
    await this.save(effect, open, same ? null : "give-up", {
      why: problem,
      listing: { failedTries, nextAtMs },
    });
    if (effect.waitsFor === null) tell(core, "effect-unresolved", open, { waitsFor });
  }

  #opened(
    effect: EffectRecord,
    open: { readonly problem: string; readonly waitsFor: "retry" | "person" | "tool" },
  ): EffectRecord {
    const { core } = this;
    if (effect.state === "unresolved") {
      return requireChange(restateProblem(effect, open, core.clock.now()));
    }
    const running =
      effect.state === "confirmed" ? change(core, effect, { type: "compensate" }) : effect;
    return change(core, running, { type: "give-up", ...open });
  }

  note(effect: EffectRecord, message: string): void {
    const { effectId, step, tool } = effect;
    this.#errors.set(effectId, { effectId, step, tool, message });
  }

  countUndone(actions: number): void {
    this.#undone += actions;
  }

  /** One batch: staged effects never leave; calls without a receipt are in doubt (E5). */
  async #dropAndDoubt(): Promise<void> {
    const records: RecordWrite[] = [];
    const audit: Uint8Array[] = [];
    const changed: EffectRecord[] = [];
    for (const effect of this.#now.values()) {
      const type =
        effect.state === "staged" ? "drop" : effect.state === "requested" ? "lose" : null;
      if (type === null) continue;
      const after = change(this.core, effect, { type });
      records.push(...effectWrites(effect, after, this.actionsOf(effect)));
      audit.push(effectAudit(after, type, this.core.clock.now()));
      changed.push(after);
    }
    if (changed.length === 0) return;
    await this.work.writer.write({ records, audit });
    for (const effect of changed) this.#now.set(effect.effectId, effect);
  }

  async #undoAll(): Promise<void> {
    const readable = [...this.#now.values()].filter(({ effectId, state, outcomeKnown }) => {
      return !this.work.unreadable.has(effectId) && !(isOpen(state) && !outcomeKnown);
    });
    for (const effect of this.#now.values()) {
      if (!this.work.unreadable.has(effect.effectId) || !effect.outcomeKnown) continue;
      if (!isOpen(effect.state) && effect.state !== "confirmed") continue;
      await this.giveUp(effect, "An undo record of this step cannot be read.", "person");
    }
    // All of one transaction.
    const namespace = readable[0]?.namespace ?? "";
    const plan = planCompensation({
      effects: readable,
      undoActions: this.work.undo,
      fromStep: 0,
      nowMs: this.core.clock.now(),
      factsOf: (tool) => factsOf(this.core.tools, tool, namespace),
      hash: sha256Text,
    });
    for (const item of plan.cannot) await this.#cannot(item);
    for (const { effectId } of plan.undo) {
      const effect = this.#now.get(effectId);
      if (effect === undefined) continue;
      const blocker = this.#blockerOf(effect);
      if (blocker !== null) {
        const problem = `It waits for ${blocker.effectId} (${blocker.tool}), which used its result and is not undone.`;
        await this.giveUp(effect, problem, "retry");
      } else {
        await undoEffect(this, effect);
      }
    }
  }

  async #cannot(item: CannotItem): Promise<void> {
    const effect = this.#now.get(item.effectId);
    if (effect === undefined) return;
    const tool = item.reason === "tool-missing" || item.reason === "action-missing";
    await this.giveUp(effect, item.explanation, tool ? "tool" : "person");
  }

  /** An effect of this pass that used the result and still stands (E8). */
  #blockerOf(effect: EffectRecord): EffectRecord | null {
    for (const user of this.#users.get(effect.effectId) ?? []) {
      const now = this.#now.get(user.effectId) ?? user;
      if (isOpen(now.state)) return now;
    }
    return null;
  }
}
