// Owns the engine: puts its parts together, and gives each public call to the file that does it.
import { AgentTxError, type EffectRecord, type TransactionView } from "@agenttx/model";
import { closeTransactions } from "./close.js";
import { createEffects } from "./effects/create-effects.js";
import { NamespaceRegister } from "./effects/namespaces.js";
import { addEngine, removeEngine } from "./elsewhere.js";
import type { EngineOptions } from "./engine-options.js";
import { readSettings } from "./engine-options.js";
import { type HistoryEntry, readHistory } from "./history.js";
import { putHold, removeHold } from "./hold.js";
import { KeepAlive } from "./keep-alive.js";
import { type ListTransactions, listTransactions } from "./list.js";
import { type BeginTransaction, beginTransaction, loadTransaction } from "./load.js";
import { IdleReaper } from "./reaper.js";
import { type RecoverOptions, type RecoveryReport, recoverAll } from "./recover.js";
import { requireEngineOpen } from "./refusals.js";
import { type RetentionOptions, type RetentionReport, removeExpired } from "./retention.js";
import { Revisions } from "./revisions.js";
import { type RunTransaction, runTransaction } from "./run-transaction.js";
import { type EngineState, transactionKey } from "./state.js";
import { systemClock, systemIds } from "./system-ports.js";
import { createToolRegistry } from "./tool-registry.js";
import type { ToolShape } from "./tool-types.js";
import { Transaction } from "./transaction.js";
import { onSettled, type ResolveEffect, readEffectId, resolveEffect } from "./unresolved.js";
import { endedView, openView, storedView } from "./view.js";

interface InNamespace {
  readonly namespace?: string;
}

const HOUR_MS = 3_600_000;
const GRACE_MS = 10_000;

/**
 * Runs transactions on one store. Made by `createEngine`; one per process is enough. Several on one
 * folder, also in other threads, leave each other's transactions alone; undos and deliveries that
 * are still open are taken by any of them, one at a time, so they need the same tools.
 */
export class Engine<Tools extends readonly ToolShape[] = readonly ToolShape[]>
  implements AsyncDisposable
{
  readonly #state: EngineState;
  readonly #reaper: IdleReaper;
  readonly #revisions: Revisions<Tools>;
  #started: Promise<void> | null = null;
  #recovering: Promise<RecoveryReport> | null = null;
  #closing: Promise<void> | null = null;
  #cancelSweep: (() => void) | null = null;

  /** Internal: use `createEngine`. */
  constructor(state: EngineState) {
    this.#state = state;
    this.#reaper = new IdleReaper(state);
    this.#revisions = new Revisions(state, () => this.#start());
  }

  async begin(options: BeginTransaction = {}): Promise<Transaction<Tools>> {
    requireEngineOpen(this.#state.closing);
    await this.#start();
    const open = await beginTransaction(this.#state, options);
    this.#reaper.watch();
    return new Transaction(open);
  }

  /**
   * A handle on a transaction by id: the one in memory, or the one on disk. An interrupted rollback
   * is continued first. One that has ended gives a handle that answers with its outcome.
   * Throws NOT_FOUND.
   */
  async resume(id: string, options: InNamespace = {}): Promise<Transaction<Tools>> {
    requireEngineOpen(this.#state.closing);
    await this.#start();
    const namespace = options.namespace ?? "";
    const open = await this.#state.alive.during(() => loadTransaction(this.#state, id, namespace));
    this.#reaper.watch();
    return new Transaction(open);
  }

  /** What `resume` gives, at once, for a transaction that is in memory; null for any other. */
  opened(id: string, { namespace = "" }: InNamespace = {}): Transaction<Tools> | null {
    requireEngineOpen(this.#state.closing);
    const open = this.#state.open.get(transactionKey(id, namespace));
    return open === undefined || open instanceof Promise ? null : new Transaction(open);
  }

  /** Begins, runs `fn`, commits; write conflicts run it again. Returns what `fn` returned. */
  async transaction<Result>(
    fn: (tx: Transaction<Tools>) => Promise<Result> | Result,
    options: RunTransaction = {},
  ): Promise<Result> {
    requireEngineOpen(this.#state.closing);
    await this.#start();
    this.#reaper.watch();
    return runTransaction<Tools, Result>(this.#state, fn, options);
  }

  /**
   * Takes care of what another process left open, and nothing that another engine of this process
   * works on, on the same store or in another thread. By default a transaction that was shut down
   * cleanly stays open for `resume`, any other is undone; with `resume` it goes on. Runs beside new
   * work; a call during a run joins it.
   */
  async recover(options: RecoverOptions = {}): Promise<RecoveryReport> {
    requireEngineOpen(this.#state.closing);
    this.#recovering ??= this.#recover(options).finally(() => {
      this.#recovering = null;
    });
    return this.#recovering;
  }

  /** Throws NOT_FOUND when it never existed or its record has expired. */
  async get(id: string, options: InNamespace = {}): Promise<TransactionView> {
    const { namespace = "" } = options;
    const known = this.#state.open.get(transactionKey(id, namespace));
    if (known !== undefined) return openView(await known);
    const view =
      (await this.#onDisk(id, namespace)) ?? (await endedView(this.#state, id, namespace));
    if (view !== null) return view;
    throw new AgentTxError(
      "NOT_FOUND",
      "There is no such transaction, or its record has expired.",
      {
        details: { transaction: id },
      },
    );
  }

  /**
   * What ran in a transaction, what was undone and why, from its audit chain alone; calls no tool
   * and changes nothing. Empty when there is no such chain.
   */
  history(id: string, options: InNamespace = {}): Promise<readonly HistoryEntry[]> {
    return readHistory(this.#state.store, id, options.namespace ?? "");
  }

  list(options: ListTransactions = {}): Promise<readonly TransactionView[]> {
    return listTransactions(this.#state, options);
  }

  /** The effect ledger of one transaction, by age. Empty for one that does not exist. */
  effects(id: string, options: InNamespace = {}): Promise<readonly EffectRecord[]> {
    return this.#state.effects.listEffects(id, options.namespace ?? "");
  }

  /** Effects that wait for a person or a retry, oldest first; in all namespaces by default. */
  unresolved(
    page: { readonly after?: string; readonly limit?: number } & InNamespace = {},
  ): Promise<readonly EffectRecord[]> {
    const { after, limit, namespace } = page;
    return this.#state.effects.listUnresolved({
      ...(namespace === undefined ? {} : { namespace }),
      ...(after === undefined ? {} : { after: readEffectId(after, namespace ?? "") }),
      ...(limit === undefined ? {} : { limit }),
    });
  }

  /**
   * Records what became of an unresolved effect; its transaction goes on when nothing of it is
   * unresolved any more. Repeating an equal resolution is harmless, another throws
   * RESOLUTION_CONFLICT (C6).
   */
  async resolveEffect(
    effectId: string,
    resolution: ResolveEffect,
    options: InNamespace = {},
  ): Promise<EffectRecord> {
    requireEngineOpen(this.#state.closing);
    await this.#start();
    const name = readEffectId(effectId, options.namespace ?? "");
    return this.#state.alive.during(() => resolveEffect(this.#state, name, resolution));
  }

  /** Tries the undo, or the delivery, of an unresolved effect again now. */
  retryEffect(
    effectId: string,
    by: { readonly actor: string; readonly note?: string },
    options: InNamespace = {},
  ): Promise<EffectRecord> {
    const resolution = {
      kind: "retry",
      actor: by.actor,
      note: by.note ?? "Tried again by request",
    } as const;
    return this.resolveEffect(effectId, resolution, options);
  }

  /** What the recovery of workflows needs beside the calls above (C1); see @agenttx/recovery. */
  get revisions(): Revisions<Tools> {
    return this.#revisions;
  }

  /** Removes records of finished transactions past the retention time; runs by itself hourly. */
  async removeExpired(options: RetentionOptions = {}): Promise<RetentionReport> {
    requireEngineOpen(this.#state.closing);
    return removeExpired(this.#state, options);
  }

  /** Legal hold: everything of this transaction is kept until the hold is lifted (C10). */
  holdRecords(
    id: string,
    by: { readonly actor: string; readonly reason: string },
    { namespace = "" }: InNamespace = {},
  ): Promise<void> {
    const { store, clock } = this.#state;
    return putHold(store, { transaction: id, namespace }, { ...by, atMs: clock.now() });
  }

  liftHold(
    id: string,
    by: { readonly actor: string },
    { namespace = "" }: InNamespace = {},
  ): Promise<void> {
    const { store, clock } = this.#state;
    return removeHold(store, { transaction: id, namespace }, { ...by, atMs: clock.now() });
  }

  /**
   * Waits for running operations (10 s, then they are told to stop) and marks what is open, so that
   * the next engine resumes it. Idempotent. The store stays open: it is the caller's.
   */
  close(): Promise<void> {
    this.#closing ??= this.#state.alive.during(() => this.#close());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(): Promise<void> {
    this.#started ??= this.#startBackground();
    return this.#started;
  }

  async #startBackground(): Promise<void> {
    addEngine(this.#state);
    const { effects } = this.#state;
    await effects.start((transaction, namespace) => onSettled(this.#state, transaction, namespace));
    this.#scheduleSweep();
  }

  #scheduleSweep(): void {
    if (this.#state.closing || this.#state.settings.retentionMs === 0) return;
    this.#cancelSweep = this.#state.clock.schedule(HOUR_MS, () => {
      void this.#sweep();
    });
  }

  async #sweep(): Promise<void> {
    try {
      await removeExpired(this.#state);
    } catch {
      // The store is in trouble and says so to everyone who uses it; the next sweep tries again.
    }
    this.#scheduleSweep();
  }

  async #recover(options: RecoverOptions): Promise<RecoveryReport> {
    await this.#start();
    const report = await this.#state.alive.during(() => recoverAll(this.#state, options));
    this.#reaper.watch();
    return report;
  }

  async #onDisk(id: string, namespace: string): Promise<TransactionView | null> {
    try {
      await using tx = await this.#state.store.attach(id, { namespace });
      return storedView({ id, namespace, header: tx.header() });
    } catch (error) {
      if (error instanceof AgentTxError && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#state.closing = true;
    this.#cancelSweep?.();
    await this.#reaper.close();
    await this.#recovering?.catch(() => undefined);
    await closeTransactions(this.#state, GRACE_MS);
    await this.#state.effects.close();
    removeEngine(this.#state);
    this.#state.alive.close();
  }
}

/**
 * Makes an engine on an open store. Nothing is read or written before the first call; call
 * `recover()` at start to take care of what a crash left. Throws TOOL_INVALID and INVALID_ARGUMENT.
 */
export function createEngine<const Tools extends readonly ToolShape[]>(
  options: EngineOptions<Tools>,
): Engine<Tools> {
  requireParts(options);
  const settings = readSettings(options);
  const { store, clock = systemClock, observer, secrets } = options;
  const registry = createToolRegistry(options.tools, options.resolveTool);
  const effects = createEffects({
    store,
    tools: registry,
    clock,
    ...(secrets === undefined ? {} : { secrets }),
    ...(observer === undefined ? {} : { observer }),
    ...(options.effects === undefined ? {} : { limits: options.effects }),
  });
  return new Engine<Tools>({
    store,
    registry,
    effects,
    namespaces: new NamespaceRegister(store),
    clock,
    ids: options.ids ?? systemIds,
    secrets: secrets ?? null,
    observer: observer ?? null,
    settings,
    open: new Map(),
    parked: new Map(),
    alive: new KeepAlive(),
    begins: new Map(),
    onWorkflowSettled: null,
    closing: false,
  });
}

/** What a program in JavaScript can forget. */
function requireParts(options: EngineOptions): void {
  const { store, tools } = options ?? {};
  if (typeof store?.begin !== "function") {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "An engine needs a store: createEngine({ store: await openStore({ path }), tools }).",
      { details: { field: "store" } },
    );
  }
  if (Array.isArray(tools)) return;
  throw new AgentTxError("INVALID_ARGUMENT", "An engine needs a list of tools; it may be empty.", {
    details: { field: "tools" },
  });
}
