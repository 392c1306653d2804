// Owns the durable work item of one effect's undo: tries, waits, end (E8).

import { countUndoTry, markUndone } from "@agenttx/ledger";
import type { EffectRecord } from "@agenttx/model";
import type { AnyTool } from "./contract.js";
import { waitAfter } from "./core.js";
import { sleep } from "./deadline.js";
import { change, requireChange, tell } from "./effect-change.js";
import type { SettleRun } from "./settle.js";
import { tryUndo, type UndoTry } from "./undo-run.js";

/** Undoes the effect or leaves it open, durable either way. Throws Stopped and storage errors. */
export async function undoEffect(run: SettleRun, effect: EffectRecord): Promise<void> {
  const { core, work } = run;
  const tool = core.tools.find(effect.tool, effect.namespace);
  // The plan has placed effects of missing tools elsewhere.
  if (tool === null) return;
  tell(core, "compensation-started", effect);
  const item = new UndoItem(run, tool, effect);
  const begun = core.clock.monotonic();
  for (let failed = 1; ; failed += 1) {
    const result = await item.tryOnce(failed === 1);
    if (result.kind === "undone") return item.finish();
    if (result.kind === "dirty") return item.end(result.problem, "person");
    const late = core.clock.monotonic() - begun >= core.limits.inlineMs;
    if (failed >= work.tries || late) return item.end(result.problem, "retry");
    await sleep(core.clock, waitAfter(core, failed), work.stop);
  }
}

class UndoItem {
  readonly #run: SettleRun;
  readonly #tool: AnyTool;
  /** As it is on disk. */
  #effect: EffectRecord;
  readonly #openActions: number;

  constructor(run: SettleRun, tool: AnyTool, effect: EffectRecord) {
    this.#run = run;
    this.#tool = tool;
    this.#effect = effect;
    this.#openActions = run.actionsOf(effect).length - effect.undone.length;
  }

  /** Counts the try durably, then runs it. */
  async tryOnce(first: boolean): Promise<UndoTry> {
    const { core, work } = this.#run;
    const now = core.clock.now();
    const running =
      this.#effect.state === "compensating"
        ? this.#effect
        : change(core, this.#effect, { type: "compensate" });
    const counted = requireChange(countUndoTry(running, now));
    await this.#run.save(this.#effect, counted, first ? "compensate" : null);
    this.#effect = counted;
    const result = await tryUndo(core, {
      effect: counted,
      tool: this.#tool,
      actions: this.#run.actionsOf(counted),
      stop: work.stop,
      onConfirmed: (seq) => this.#confirm([...this.#effect.undone, seq]),
    });
    if (result.kind === "failed" && result.redo) await this.#confirm([]);
    return result;
  }

  async finish(): Promise<void> {
    const { core } = this.#run;
    const actions = this.#openActions;
    const before = this.#effect;
    await this.#run.save(before, change(core, before, { type: "finish" }), "finish");
    this.#run.countUndone(actions);
    tell(core, "compensation-finished", before, { actions, undoAttempts: before.undoAttempts });
    if (before.waitsFor !== null) tell(core, "effect-resolved", before, { kind: "compensated" });
  }

  async end(problem: string, waitsFor: "retry" | "person"): Promise<void> {
    await this.#run.giveUp(this.#effect, problem, waitsFor);
  }

  async #confirm(undone: readonly number[]): Promise<void> {
    const now = this.#run.core.clock.now();
    const after = requireChange(markUndone(this.#effect, undone, now));
    await this.#run.save(this.#effect, after, null);
    this.#effect = after;
  }
}
