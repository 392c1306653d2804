// Owns the shape of what the engine holds in memory: its ports, and one entry per open transaction.
// All of it can be rebuilt from the store (G5, I2 of header.ts).
import type {
  CommitOutcome,
  RecordWrite,
  RollbackOutcome,
  RollbackPolicy,
  Store,
  StoreTransaction,
  TransactionStatus,
} from "@agenttx/model";
import type { AskedRequests } from "./asked-requests.js";
import type { EffectsPort, ToolRegistry } from "./effects/contract.js";
import type { NamespaceRegister } from "./effects/namespaces.js";
import type { GraphLog } from "./graph-log.js";
import { encodeHeader, type Header } from "./header.js";
import type { KeepAlive } from "./keep-alive.js";
import type { OperationLock } from "./lock.js";
import {
  type Clock,
  type EngineEvent,
  type EngineObserver,
  type IdSource,
  type SecretSource,
  tellObserver,
} from "./ports.js";

export interface EngineSettings {
  readonly policy: RollbackPolicy;
  readonly idleTimeoutMs: number;
  readonly constraintsMax: number;
  readonly contextBytesMax: number;
  readonly retentionMs: number;
  /** 0 = for ever. */
  readonly auditRetentionMs: number;
  readonly resumeOnRecover: boolean;
  readonly onUnresolved: "freeze" | "continue";
  readonly infrastructureFailuresMax: number;
  readonly deliveryBudgetMs: number;
}

export interface EngineState {
  readonly store: Store;
  readonly registry: ToolRegistry;
  readonly effects: EffectsPort;
  readonly namespaces: NamespaceRegister;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly secrets: SecretSource | null;
  readonly observer: EngineObserver | null;
  readonly settings: EngineSettings;
  readonly alive: KeepAlive;
  /** By `transactionKey`. A promise while it is being begun, loaded or recovered: a claim. */
  readonly open: Map<string, OpenTransaction | Promise<OpenTransaction>>;
  /** Found at recovery after a clean shutdown, not resumed yet; value = found at, monotonic. */
  readonly parked: Map<string, ParkedTransaction>;
  /** Begins under way, by namespace and request id. */
  readonly begins: Map<string, Promise<OpenTransaction>>;
  /** Told when nothing of a workflow's transaction is unresolved any more. */
  onWorkflowSettled: ((workflow: string, namespace: string) => Promise<void>) | null;
  closing: boolean;
}

export interface ParkedTransaction {
  readonly id: string;
  readonly namespace: string;
  readonly sinceMs: number;
}

/** How a transaction ended; kept so that a repeated commit or abort gets the first answer (P2). */
export interface Ended {
  readonly status: Extract<TransactionStatus, "COMMITTED" | "ROLLED_BACK" | "FAILED">;
  readonly reason: string | null;
  readonly commit: CommitOutcome | null;
  readonly rollback: RollbackOutcome | null;
}

/**
 * One open transaction.
 * INVARIANT: changed only by the operation that holds `lock`.
 */
export interface OpenTransaction {
  readonly engine: EngineState;
  readonly id: string;
  readonly namespace: string;
  readonly lock: OperationLock;
  readonly graph: GraphLog;
  /** Null for one that was found on disk: the store alone knows its requests. */
  readonly asked: AskedRequests | null;
  tx: StoreTransaction;
  incarnation: bigint;
  header: Header;
  owner: bigint;
  attempt: number;
  nextStep: number;
  /** Writes of steps 1..nextStep-1. */
  writesSoFar: number;
  /** A step of which something may be left: undone before anything else happens (R9). */
  undoFrom: number | null;
  /** Receipt of an effect that is known to have happened, whose batch failed: written first. */
  receipt: readonly RecordWrite[] | null;
  /** A commit whose write failed half-way: its terminal record tells (P2). */
  outcomeUnknown: boolean;
  ended: Ended | null;
  /** Another owner has taken it (C3): this entry runs nothing more. */
  fenced: boolean;
  /** Monotonic; for the reaper. */
  lastActiveMs: number;
}

export function transactionKey(id: string, namespace: string): string {
  return `${namespace.length}:${namespace}${id}`;
}

/** The fence of the next batch of this transaction (E6). */
export function fenceOf(open: OpenTransaction): { owner: bigint; attempt: number; step: number } {
  return { owner: open.owner, attempt: open.attempt, step: open.nextStep };
}

export function hasEffects(header: Header): boolean {
  return header.effects.effectSeq > 1;
}

/** A new header value and its bytes; assign the value only after the batch succeeded. */
export function nextHeader(
  open: OpenTransaction,
  changes: Partial<Header>,
): { readonly header: Header; readonly payload: Uint8Array } {
  const header = { ...open.header, ...changes, updatedAtMs: open.engine.clock.now() };
  return { header, payload: encodeHeader(header) };
}

export function tell(
  open: OpenTransaction,
  kind: EngineEvent["kind"],
  step: number,
  tool: string | null,
  data: EngineEvent["data"] = {},
): void {
  const { observer, clock } = open.engine;
  if (observer === null) return;
  const { id: transaction, namespace } = open;
  tellObserver(observer, { kind, transaction, namespace, step, tool, atMs: clock.now(), data });
}
