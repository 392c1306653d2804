// Owns recovery: what another process, or an earlier open of this store, left behind (C8).
//
//   V1 Everything is read from disk; nothing in memory is needed to know what to undo.
//   V2 A transaction that this engine, or another one of this process, began, resumed or is taking
//      up is never adopted.
//   V3 One bad record is reported and left as it is; it blocks neither the others nor the start.
import type { OpenTransaction as Stored } from "@agenttx/model";
import { reasonText } from "./effects/problem-text.js";
import { takeIfFree } from "./elsewhere.js";
import { decodeHeader } from "./header.js";
import { attachOpen, claim, resumeFromDisk } from "./load.js";
import { beginRollback, continueRollback, NOTHING_PENDING } from "./rollback.js";
import { unfreeze } from "./settle.js";
import { type EngineState, type OpenTransaction, tell, transactionKey } from "./state.js";
import { unsettledEffects } from "./step/failure.js";

export interface RecoverOptions {
  /** Go on with interrupted transactions instead of undoing them. Default: the engine's setting. */
  readonly resume?: boolean;
  /** Transactions at a time; 1..64, default 4. */
  readonly concurrency?: number;
  readonly onProgress?: (report: RecoveryReport) => void;
}

/** Counts so far; `done` when all that was found at the start has been looked at. */
export interface RecoveryReport {
  readonly found: number;
  /** Left open: shut down cleanly, or resumed. */
  readonly resumed: number;
  readonly rolledBack: number;
  /** Ids that stay frozen, and effects that stay unresolved: visible and retried. */
  readonly frozen: readonly string[];
  readonly unresolvedEffects: readonly string[];
  /** Transactions that could not be recovered, with the reason; untouched on disk. */
  readonly problems: readonly RecoveryProblem[];
  readonly done: boolean;
}

export interface RecoveryProblem {
  readonly transaction: string;
  readonly message: string;
}

interface Progress {
  found: number;
  resumed: number;
  rolledBack: number;
  readonly frozen: string[];
  readonly unresolvedEffects: string[];
  readonly problems: RecoveryProblem[];
}

const PAGE = 500;

/** Recovers every open transaction on disk that no engine of this process works on. */
export async function recoverAll(
  engine: EngineState,
  options: RecoverOptions,
): Promise<RecoveryReport> {
  const progress: Progress = {
    found: 0,
    resumed: 0,
    rolledBack: 0,
    frozen: [],
    unresolvedEffects: [],
    problems: [],
  };
  const report = (done: boolean): RecoveryReport => ({
    ...progress,
    frozen: [...progress.frozen],
    unresolvedEffects: [...progress.unresolvedEffects],
    problems: [...progress.problems],
    done,
  });
  const resume = options.resume ?? engine.settings.resumeOnRecover;
  const lanes = Math.min(Math.max(options.concurrency ?? 4, 1), 64);
  for await (const page of pages(engine)) {
    const queue = page.filter(({ id, namespace }) => !isOurs(engine, id, namespace));
    progress.found += queue.length;
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          if (engine.closing) return;
          await recoverOne(engine, next, resume, progress);
          options.onProgress?.(report(false));
        }
      }),
    );
  }
  return report(true);
}

async function* pages(engine: EngineState): AsyncGenerator<Stored[]> {
  let after: { id: string; namespace: string } | undefined;
  for (;;) {
    const page = await engine.store.openTransactions({
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { id: last.id, namespace: last.namespace };
  }
}

function isOurs(engine: EngineState, id: string, namespace: string): boolean {
  const key = transactionKey(id, namespace);
  return engine.open.has(key) || engine.parked.has(key);
}

async function recoverOne(
  engine: EngineState,
  stored: Stored,
  resume: boolean,
  progress: Progress,
): Promise<void> {
  const { id, namespace } = stored;
  try {
    if (isOurs(engine, id, namespace)) return;
    const header = decodeHeader(id, stored.header.payload);
    if (header.workflow !== undefined) {
      // A workflow outlives crashes: it is resumed, or its own recovery takes it back (C1).
      progress.resumed += 1;
      return;
    }
    if (header.cleanShutdown) {
      park(engine, id, namespace);
      progress.resumed += 1;
      return;
    }
    const open = await takeIfFree(engine, stored, () =>
      claim(engine, id, namespace, () => takeUp(engine, id, namespace, resume)),
    );
    if (typeof open === "string") progress.found -= 1;
    else await note(open, progress);
  } catch (error) {
    progress.problems.push({ transaction: id, message: reasonText(error) });
  }
}

/** Stays open on disk until somebody resumes it, or the reaper ends it (P4). */
function park(engine: EngineState, id: string, namespace: string): void {
  const sinceMs = engine.clock.monotonic();
  engine.parked.set(transactionKey(id, namespace), { id, namespace, sinceMs });
}

async function takeUp(
  engine: EngineState,
  id: string,
  namespace: string,
  resume: boolean,
): Promise<OpenTransaction> {
  const open = await attachOpen(engine, id, namespace);
  if (resume || open.header.status === "FROZEN") {
    await resumeFromDisk(open);
    if (open.header.status === "FROZEN") await unfreeze(open);
  } else {
    await undoAll(open);
  }
  tell(open, "recovered", open.nextStep, null, {
    status: open.ended?.status ?? open.header.status,
  });
  return open;
}

/** Newest first, then discarded; what cannot be undone stays in the ledger (E8a). */
async function undoAll(open: OpenTransaction): Promise<void> {
  await open.engine.effects.markIndeterminate(open.id, open.namespace);
  const { pending } = open.header;
  if (pending?.kind === "abort") {
    await continueRollback(open, pending);
    return;
  }
  await beginRollback(
    open,
    {
      ...NOTHING_PENDING,
      kind: "abort",
      step: open.nextStep,
      target: 0,
      reason: "CRASH_RECOVERY",
      // The caller of the interrupted request may still ask for its answer.
      request: pending?.request ?? null,
      hint: pending?.hint ?? null,
    },
    { audit: [] },
  );
}

async function note(open: OpenTransaction, progress: Progress): Promise<void> {
  if (open.ended !== null) {
    progress.rolledBack += 1;
    progress.unresolvedEffects.push(...(open.ended.rollback?.unresolvedEffects ?? []));
    return;
  }
  if (open.header.status === "FROZEN") {
    progress.frozen.push(open.id);
    progress.unresolvedEffects.push(...(await unsettledEffects(open)));
    return;
  }
  progress.resumed += 1;
}
