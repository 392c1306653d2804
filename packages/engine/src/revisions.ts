// Owns what the recovery of workflows may do to the transactions that are their revisions (C1-C4).
// It decides nothing: it fences, forks, writes and ends, one durable batch each.
//
//   W1 Every batch carries the fencing token that the caller holds; storage refuses an older one.
//   W2 A held transaction runs nothing and is taken up by nobody, until it is released or ended.
//   W3 What another owner takes is forgotten in memory here, so that no old handle goes on.
import type { UndoFacts } from "@agenttx/ledger";
import {
  AgentTxError,
  type Bytes,
  type EffectRecord,
  isAgentTxError,
  type Key,
  type RecordWrite,
  type ScanEntry,
  type ScanRange,
  type StoreTransaction,
  type UndoAction,
  type Write,
} from "@agenttx/model";
import { initialCounters, type PolicyOverrides } from "@agenttx/policy";
import type { AnyTool, CompensationReport } from "./effects/contract.js";
import { applyAs } from "./effects/effect-store.js";
import { factsOf } from "./effects/tool-facts.js";
import { decodeHeader, encodeHeader, type Header, newHeader } from "./header.js";
import { claim, entry, loadTransaction, policyOf, requireBegin } from "./load.js";
import { type EngineEvent, tellObserver } from "./ports.js";
import { requireActive, requireEngineOpen, requireOwned } from "./refusals.js";
import { endRevision } from "./revision-end.js";
import { type EngineState, fenceOf, type OpenTransaction, transactionKey } from "./state.js";
import type { ToolShape } from "./tool-types.js";
import { Transaction } from "./transaction.js";

export interface RevisionName {
  readonly transaction: string;
  readonly namespace: string;
}

/** What a batch carries beside what the call itself changes. */
export interface RevisionBatch {
  readonly records?: readonly RecordWrite[];
  readonly audit?: readonly Bytes[];
  readonly storeAudit?: readonly Bytes[];
  readonly writes?: readonly Write[];
}

/** How a revision begins; the same for each revision of a workflow. */
export interface BeginRevision {
  readonly workflow: string;
  readonly agentId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policy?: PolicyOverrides;
  readonly isolation?: "read-committed" | "serializable";
}

export interface ForkRevision extends BeginRevision {
  /** Null: from nothing, because what it could be forked from has ended. */
  readonly from: { readonly transaction: string; readonly snapshot: number } | null;
  /** Free numbers of effects of the new transaction, from 1: what it inherits took the others. */
  readonly nextEffect: number;
}

/** A transaction that is open on disk. */
export interface RevisionFacts {
  readonly owner: bigint;
  /** The step that is next, whatever the status. */
  readonly nextStep: number;
  readonly held: boolean;
  readonly workflow: string | null;
}

/** State as an invariant or a migration sees it: own writes first, then committed (S5). */
export interface StateView {
  get(key: Key): Promise<Bytes | null>;
  scan(range?: ScanRange): Promise<ScanEntry[]>;
}

/** Milliseconds that fencing waits for a running call to notice that it was stopped. */
const STOP_MS = 1_000;

export class Revisions<Tools extends readonly ToolShape[] = readonly ToolShape[]> {
  readonly #engine: EngineState;
  readonly #start: () => Promise<void>;

  /** Internal: `engine.revisions`. */
  constructor(engine: EngineState, start: () => Promise<void>) {
    this.#engine = engine;
    this.#start = start;
  }

  /** Starts background retries; `onSettled` is told when a held revision has nothing unresolved. */
  async start(onSettled: (workflow: string, namespace: string) => Promise<void>): Promise<void> {
    this.#engine.onWorkflowSettled = onSettled;
    await this.#start();
  }

  newTransactionId(): string {
    return this.#engine.ids.transactionId();
  }

  /** Begins the first revision; the records are in the opening batch. */
  async begin(
    name: RevisionName,
    options: BeginRevision,
    batch: RevisionBatch,
  ): Promise<Transaction<Tools>> {
    requireEngineOpen(this.#engine.closing);
    await this.#start();
    const { transaction, namespace } = name;
    const header = this.#newHeader(options);
    const open = await claim(this.#engine, transaction, namespace, async () => {
      await this.#engine.namespaces.ensure(namespace);
      const { isolation } = header;
      const payload = encodeHeader(header);
      const begin = { namespace, isolation, payload, ...recordsOf(batch) };
      const tx = await this.#engine.store.begin(transaction, begin);
      return entry(this.#engine, transaction, namespace, tx, header);
    });
    this.#tell("begin", name, { agentId: header.agentId });
    return new Transaction(open);
  }

  /**
   * A new transaction that equals the other one at that snapshot, held. False when it exists
   * already: an earlier try came this far.
   */
  async fork(name: RevisionName, fork: ForkRevision, batch: RevisionBatch): Promise<boolean> {
    const { transaction, namespace } = name;
    const { store } = this.#engine;
    const fresh = this.#newHeader(fork);
    const effects = { effectSeq: fork.nextEffect, undoSeq: 1 };
    const constraints = await this.#constraintsOf(fork, namespace);
    const held = { ...fresh, effects, constraints, status: "FROZEN", held: true } as const;
    const { isolation } = held;
    const begin = { namespace, isolation, payload: encodeHeader(held), ...recordsOf(batch) };
    await this.#engine.namespaces.ensure(namespace);
    try {
      const { from } = fork;
      const tx =
        from === null
          ? await store.begin(transaction, begin)
          : await store.fork(from.transaction, from.snapshot, transaction, begin);
      await tx[Symbol.asyncDispose]();
      this.#tell("begin", name, { agentId: held.agentId });
      return true;
    } catch (error) {
      if (isAgentTxError(error) && error.code === "TRANSACTION_EXISTS") return false;
      throw error;
    }
  }

  /** Null when it is not open on disk: it never was, or has ended. */
  async facts(name: RevisionName): Promise<RevisionFacts | null> {
    await using tx = await this.#attachOrNull(name);
    if (tx === null) return null;
    const { owner, step, payload } = tx.header();
    const { held, workflow } = decodeHeader(name.transaction, payload);
    return { owner, nextStep: step, held: held === true, workflow: workflow ?? null };
  }

  /**
   * One batch in the name of `owner`. `nextOwner` raises the fencing token: from then on storage
   * refuses everything of the one before, a running call here is told to stop, and handles of the
   * transaction answer STALE_OWNER. `hold` true: nothing runs in it any more; false: released.
   * False when it is not open, and nothing was changed. Throws STALE_OWNER and storage errors;
   * nothing was changed then.
   */
  async change(
    name: RevisionName,
    change: { readonly owner: bigint; readonly nextOwner?: bigint; readonly hold?: boolean },
    batch: RevisionBatch,
  ): Promise<boolean> {
    const { owner, nextOwner, hold } = change;
    await using tx = await this.#attachOrNull(name);
    if (tx === null) return false;
    await applyAs(tx, owner, {
      ...batch,
      ...(nextOwner === undefined ? {} : { next: { owner: nextOwner } }),
      ...(hold === undefined ? {} : { payload: this.#heldPayload(tx, hold) }),
    });
    if (nextOwner !== undefined || hold === true) await this.#evict(name);
    return true;
  }

  /**
   * Raises the fencing token to at least `token`, as `change` does. Answers what it is then: larger
   * when another owner has a newer one, and nothing was changed; null when it is not open.
   */
  async raise(name: RevisionName, token: bigint): Promise<bigint | null> {
    await using tx = await this.#attachOrNull(name);
    if (tx === null) return null;
    const { owner } = tx.header();
    if (owner >= token) return owner;
    await applyAs(tx, owner, { next: { owner: token } });
    await this.#evict(name);
    return token;
  }

  /** Null when it is not open on disk. */
  async #attachOrNull({ transaction, namespace }: RevisionName): Promise<StoreTransaction | null> {
    try {
      return await this.#engine.store.attach(transaction, { namespace });
    } catch (error) {
      if (isAgentTxError(error) && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }

  /** Reads a transaction without running anything; `read` gets its state as it is now. */
  async read<Result>(
    { transaction, namespace }: RevisionName,
    read: (view: StateView) => Promise<Result>,
  ): Promise<Result> {
    await using tx = await this.#engine.store.attach(transaction, { namespace });
    return await read(viewOf(tx));
  }

  /**
   * A batch between two steps of a running revision, made by `make` from what stands there: no step
   * runs meanwhile. Throws STEP_IN_PROGRESS, TRANSACTION_FROZEN, STALE_OWNER.
   */
  async note<Result extends { readonly batch: RevisionBatch }>(
    name: RevisionName,
    owner: bigint,
    make: (view: StateView, step: number) => Promise<Result>,
  ): Promise<Result> {
    requireEngineOpen(this.#engine.closing);
    const open = await loadTransaction(this.#engine, name.transaction, name.namespace);
    requireActive(open);
    if (open.owner !== owner) requireOwned({ ...open, fenced: true });
    requireOwned(open);
    if (open.lock.running !== null) throw busy(open);
    const note = async (): Promise<Result> => {
      const made = await make(viewOf(open.tx), open.nextStep - 1);
      await open.tx.apply({ ...made.batch, fence: fenceOf(open) });
      return made;
    };
    const fields = { kind: "settle", step: 0, requestId: null } as const;
    return open.lock.run(fields, note, () => {
      open.lastActiveMs = this.#engine.clock.monotonic();
    });
  }

  /** Ends a held transaction: its state goes, its ledger stays. Harmless when it has ended. */
  async end(
    name: RevisionName,
    owner: bigint,
    reason: string,
    batch: RevisionBatch,
  ): Promise<void> {
    const ended = await endRevision(this.#engine, name, { owner, reason, batch });
    if (ended) this.#tell("aborted", name, { status: "ROLLED_BACK", reason });
  }

  effects({ transaction, namespace }: RevisionName): Promise<readonly EffectRecord[]> {
    return this.#engine.effects.listEffects(transaction, namespace);
  }

  undoActions({ transaction, namespace }: RevisionName): Promise<readonly UndoAction[]> {
    return this.#engine.effects.undoActions(transaction, namespace);
  }

  /** Revisions are counted like any transaction. */
  #tell(
    kind: "begin" | "aborted",
    { transaction, namespace }: RevisionName,
    data: EngineEvent["data"],
  ): void {
    const { observer, clock } = this.#engine;
    if (observer === null) return;
    const atMs = clock.now();
    tellObserver(observer, { kind, transaction, namespace, step: 0, tool: null, atMs, data });
  }

  undoFacts(tool: string, namespace: string): UndoFacts | null {
    return factsOf(this.#engine.registry, tool, namespace);
  }

  tool(name: string, namespace: string): AnyTool | null {
    return this.#engine.registry.find(name, namespace);
  }

  /** Settles effects of steps >= fromStep, in the name of `owner` (E8). */
  async compensate(
    name: RevisionName,
    fromStep: number,
    owner: bigint,
  ): Promise<CompensationReport> {
    const { transaction, namespace } = name;
    const target = { tx: null, transaction, namespace, fromStep, owner };
    return this.#engine.effects.compensate(target);
  }

  #newHeader(options: BeginRevision): Header {
    const { agentId = "", metadata = {}, isolation = "read-committed", workflow } = options;
    requireBegin(agentId, metadata);
    const policy = policyOf(this.#engine.settings.policy, options.policy);
    const fields = { agentId, metadata, policy, isolation, counters: initialCounters() };
    return { ...newHeader(fields, this.#engine.clock.now()), workflow };
  }

  /** What failures taught outlives the revision (E10). */
  async #constraintsOf({ from }: ForkRevision, namespace: string): Promise<Header["constraints"]> {
    if (from === null) return [];
    await using tx = await this.#engine.store.attach(from.transaction, { namespace });
    return decodeHeader(from.transaction, tx.header().payload).constraints;
  }

  #heldPayload(tx: StoreTransaction, hold: boolean): Bytes {
    const header = decodeHeader(tx.id, tx.header().payload);
    const status = hold ? "FROZEN" : "ACTIVE";
    const updatedAtMs = this.#engine.clock.now();
    return encodeHeader({ ...header, status, held: hold, pending: null, updatedAtMs });
  }

  /** Forgets the entry (W3); a running call is told to stop, and gets a moment to notice. */
  async #evict({ transaction, namespace }: RevisionName): Promise<void> {
    const key = transactionKey(transaction, namespace);
    const known = this.#engine.open.get(key);
    if (known === undefined) return;
    this.#engine.open.delete(key);
    const open = await Promise.resolve(known).catch(() => null);
    if (open === null) return;
    open.fenced = true;
    const { running } = open.lock;
    if (running === null) return;
    running.stop?.(new Error("Another owner has taken the transaction"));
    await new Promise<void>((resolve) => {
      const cancel = this.#engine.clock.schedule(STOP_MS, resolve);
      void open.lock.idle().then(() => {
        cancel();
        resolve();
      });
    });
  }
}

function recordsOf(batch: RevisionBatch): Pick<RevisionBatch, "records" | "audit"> {
  const { records, audit } = batch;
  return {
    ...(records === undefined ? {} : { records }),
    ...(audit === undefined ? {} : { audit }),
  };
}

function viewOf(tx: StoreTransaction): StateView {
  return { get: (key) => tx.get(key), scan: (range) => tx.scan(range) };
}

function busy(open: OpenTransaction): AgentTxError {
  return new AgentTxError(
    "STEP_IN_PROGRESS",
    "The transaction is busy; nothing was written. Repeat this when its step is done.",
    { details: { transaction: open.id } },
  );
}
