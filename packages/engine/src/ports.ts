// Owns the ports of the engine beside storage (`Store` of @agenttx/model): time and ids.
// Only composition roots and tests provide other implementations than the system ones.

/** Milliseconds since the epoch, and timers that do not keep the process alive. */
export interface Clock {
  now(): number;
  /** Monotonic milliseconds: for durations and deadlines; unaffected by clock jumps. */
  monotonic(): number;
  /** Calls `run` once after `ms`; the returned function cancels it. */
  schedule(ms: number, run: () => void): () => void;
}

/** Ids of transactions: sortable, never chosen by clients (P8). */
export interface IdSource {
  transactionId(): string;
}

/** Values of `${secrets.NAME}` references; never stored (C9). */
export interface SecretSource {
  get(name: string): Promise<string | null>;
}

/** What the engine tells the outside while it works. What it throws is ignored. */
export interface EngineObserver {
  onEvent(event: EngineEvent): void;
}

/** A broken observer must not decide what becomes of a step that is durable already. */
export function tellObserver(observer: EngineObserver, event: EngineEvent): void {
  try {
    observer.onEvent(event);
  } catch {
    // Nobody to tell: the observer is the one who tells.
  }
}

/** One line of the live timeline; ids and words only, no values. */
export interface EngineEvent {
  readonly kind:
    | "begin"
    | "step-started"
    | "step-succeeded"
    | "step-failed"
    | "decision"
    | "compensation-started"
    | "compensation-finished"
    | "effect-unresolved"
    | "effect-resolved"
    | "restored"
    | "frozen"
    | "unfrozen"
    | "committed"
    | "conflict"
    | "aborted"
    | "effect-delivered"
    | "effect-parked"
    | "recovered";
  readonly transaction: string;
  /** Tenant of the transaction; "" without tenants. */
  readonly namespace: string;
  readonly step: number;
  readonly tool: string | null;
  readonly atMs: number;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}
