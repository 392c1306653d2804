// Owns what a command does before its work: take up what an earlier process left in the store.

import type { EngineEvent } from "@agenttx/engine";
import type { RecoverySummary } from "./result.js";

/** What recovery needs of an engine; an engine of @agenttx/engine fits. */
export interface RecoverableEngine {
  recover(options?: { readonly resume?: boolean }): Promise<{
    readonly found: number;
    readonly resumed: number;
    readonly rolledBack: number;
    readonly frozen: readonly string[];
    readonly unresolvedEffects: readonly string[];
    readonly problems: readonly { readonly transaction: string; readonly message: string }[];
  }>;
}

/** Counts the undos that an engine tells of. */
export class UndoCounter {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Every event of the engine. */
  see(event: EngineEvent): void {
    const { effectId, state } = event.data;
    const perEffect = event.kind === "compensation-finished" && effectId !== undefined;
    if (perEffect && (state === undefined || state === "compensated")) this.#count += 1;
  }
}

/** Recovers and tells how it went, or null when there was nothing to recover. */
export async function recoverEngine(
  engine: RecoverableEngine,
  options: { readonly undos: UndoCounter; readonly resume?: boolean },
): Promise<RecoverySummary | null> {
  const { undos, resume } = options;
  const before = undos.count;
  const startedAt = performance.now();
  const report = await engine.recover(resume === undefined ? {} : { resume });
  if (report.found === 0) return null;
  const { found, resumed, rolledBack, frozen, unresolvedEffects, problems } = report;
  return {
    found,
    resumed,
    rolledBack,
    frozen,
    unresolvedEffects,
    problems,
    compensationsRun: undos.count - before,
    durationMs: performance.now() - startedAt,
  };
}

/** The summary in one line. */
export function recoveryText(summary: RecoverySummary): string {
  const parts = [counted(summary.rolledBack, "transaction", "rolled back")];
  if (summary.resumed > 0) parts.push(counted(summary.resumed, "transaction", "left open"));
  if (summary.frozen.length > 0)
    parts.push(counted(summary.frozen.length, "transaction", "frozen"));
  parts.push(counted(summary.compensationsRun, "effect", "taken back"));
  if (summary.unresolvedEffects.length > 0) {
    parts.push(counted(summary.unresolvedEffects.length, "effect", "unresolved"));
  }
  if (summary.problems.length > 0) {
    parts.push(counted(summary.problems.length, "transaction", "could not be recovered"));
  }
  return parts.join(", ");
}

function counted(count: number, noun: string, what: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"} ${what}`;
}
