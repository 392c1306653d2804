// Owns the seam between the step driver (engine/src/*.ts) and the effects side
// (engine/src/effects/*.ts): who calls whom, and who makes what durable.
//
// Keys: effect records live in space `effect` under their `seq` (a per-transaction counter kept in
// the header payload, from 1; effectId = `${transaction}/${seq}`); undo actions in space `saga`
// under (step, seq) with the same kind of counter, so newest first is the descending order of seq.
//
//   F1 Intent durable -> effect -> receipt durable -> result visible. `runEffect` writes the intent
//      itself; the receipt travels in the step's batch, which the driver writes.
//   F2 A record is changed only by a transition of @agenttx/ledger.
//   F3 A saga record is removed only in the batch that says `compensated`, `absent`, `failed`
//      (definite) or `resolved` of its effect, or by commit.
//      `undone` in the record says which actions of a running undo are confirmed already.
//   F4 Everything here survives the death of the process: a fresh EffectsPort on the same store
//      finds its work by scanning records.

import type {
  CompensationError,
  EffectRecord,
  JsonValue,
  RecordWrite,
  Resolution,
  StoreTransaction,
  ToolContext,
  ToolDefinition,
  UndoAction,
} from "@agenttx/model";

/** A tool as the registry keeps it: any arguments, any output. */
export type AnyTool = ToolDefinition<string, never, JsonValue>;

/** The tools by name; `null` for one that this deploy does not have (C8: parked, not failed). */
export interface ToolRegistry {
  /** `namespace`: a worker may serve the tool for one tenant and not for another. */
  find(name: string, namespace: string): AnyTool | null;
}

/** What the driver hands over for one effectful external call. */
export interface EffectCall {
  readonly tx: StoreTransaction;
  readonly tool: AnyTool;
  readonly effectClass: "reversible" | "irreversible";
  readonly step: number;
  readonly attempt: number;
  /** Fencing token of the caller; default: the one the transaction has now (C3). */
  readonly owner?: bigint;
  /** Validated arguments with references and secrets resolved: for the tool alone. */
  readonly args: JsonValue;
  /** Arguments with secret references unresolved and secret paths redacted: for records. */
  readonly recordedArgs: JsonValue;
  readonly requestDigest: string;
  readonly idempotencyKey: string;
  readonly dependsOn: readonly string[];
  /** Next free counters; the driver owns them and stores what comes back in `counters`. */
  readonly counters: EffectCounters;
  /** Header payload for the intent batch, made by the driver from the counters it is given. */
  readonly payload: (counters: EffectCounters) => Uint8Array;
  /** Base context without `registerUndo` and `signal`, which `runEffect` adds. */
  readonly context: Omit<ToolContext, "registerUndo" | "signal">;
  /** Aborts when the caller gives up or the transaction is fenced. */
  readonly signal: AbortSignal;
  /** Takes the values of secrets out of what the tool returns or registers, before it is stored:
   *  references stand in their place. Omitted when the call has no secrets (C9). */
  readonly redact?: (value: JsonValue) => JsonValue;
  /**
   * The tool option `retry` (E1c): asked after each failed try with its error and the number of
   * tries so far. Milliseconds to wait before the next try with the same idempotency key, or null
   * to let the error stand. Never asked after a deadline: then nobody knows what happened (E5).
   */
  readonly retry?: (error: unknown, failedTries: number) => number | null;
}

export interface EffectCounters {
  readonly effectSeq: number;
  readonly undoSeq: number;
}

/** What became of the call. `records` belong into the batch the driver writes next. Storage errors
 *  (a fenced attempt, a poisoned store) are thrown: they are no outcome of the call. */
export type EffectRun =
  | {
      readonly kind: "succeeded";
      readonly output: JsonValue;
      readonly effect: EffectRecord;
      readonly counters: EffectCounters;
      readonly records: readonly RecordWrite[];
    }
  | {
      /** The tool threw, or landed without an output; the effect is `failed`, `absent` or waits
       *  for compensation (`confirmed` with partial undo). Already durable. */
      readonly kind: "failed";
      readonly error: unknown;
      readonly effect: EffectRecord;
      readonly counters: EffectCounters;
    }
  | {
      /** Lookup could not tell; durable as `unresolved`: the transaction freezes (E5). */
      readonly kind: "unresolved";
      readonly error: unknown;
      readonly effect: EffectRecord;
      readonly counters: EffectCounters;
    };

export interface CompensationReport {
  /** Undos confirmed in this call. */
  readonly run: number;
  readonly errors: readonly CompensationError[];
  /** Ids that are unresolved or indeterminate after it. Empty = everything is settled. */
  readonly unresolved: readonly string[];
}

export interface DeliveryReport {
  readonly delivered: number;
  readonly pending: number;
  readonly errors: readonly string[];
}

export interface EffectName {
  readonly transaction: string;
  readonly namespace: string;
  readonly seq: number;
}

export interface EffectsPort {
  runEffect(call: EffectCall): Promise<EffectRun>;
  /** A staged irreversible call: the record and its place in the outbox, for the step's batch. */
  stageEffect(call: Omit<EffectCall, "payload" | "signal" | "context">): {
    readonly effect: EffectRecord;
    readonly counters: EffectCounters;
    readonly records: readonly RecordWrite[];
  };
  /** Every effect record of the transaction, by seq. */
  listEffects(transaction: string, namespace: string): Promise<readonly EffectRecord[]>;
  undoActions(transaction: string, namespace: string): Promise<readonly UndoAction[]>;
  /**
   * Settles every effect of steps >= fromStep, newest first: looks up indeterminate ones,
   * compensates, verifies, drops staged ones. Bounded inline (E1c: 3 tries or 30 s), then leaves
   * the rest `unresolved` to the background. Runs outside the caller's cancellation. `tx` null: the
   * transaction has ended, records are written with `store.writeRecords`. A second call for the
   * same transaction waits for the first and then finds its work done.
   */
  compensate(target: {
    readonly tx: StoreTransaction | null;
    readonly transaction: string;
    readonly namespace: string;
    readonly fromStep: number;
    /** Fencing token of who compensates; default: the one the transaction has now (C3). */
    readonly owner?: bigint;
  }): Promise<CompensationReport>;
  /** After a crash: `requested` effects of this transaction become `indeterminate`; durable. */
  markIndeterminate(
    transaction: string,
    namespace: string,
    tx?: StoreTransaction | null,
  ): Promise<void>;
  /**
   * The outbox rows and effect updates that the commit batch must carry (E7). Throws
   * RECONCILIATION_REQUIRED while an effect is unresolved or its outcome is not known (E8a).
   */
  commitRecords(transaction: string, namespace: string): Promise<readonly RecordWrite[]>;
  /** One bounded delivery pass for a committed transaction; the rest goes on behind it. */
  deliver(transaction: string, namespace: string, budgetMs: number): Promise<DeliveryReport>;
  /** Everything that waits for a person or a retry, oldest first; in all namespaces by default. */
  listUnresolved(page?: {
    readonly namespace?: string;
    readonly after?: EffectName;
    readonly limit?: number;
  }): Promise<readonly EffectRecord[]>;
  /**
   * Repeating an equal resolution (kind, actor, note) is harmless, another is refused with
   * RESOLUTION_CONFLICT (C6). `retry` tries at once and answers with what came of it. `happened`
   * tells what a lookup could not: an effect that can be undone then is, another is settled as it
   * stands. When it was the last open effect of the transaction, `onSettled` is called before this
   * resolves: REQUIRES that the caller holds no lock that `onSettled` takes.
   */
  resolve(name: EffectName, resolution: Resolution): Promise<EffectRecord>;
  /** Starts the background retries and the outbox dispatcher; `onSettled` when a transaction has
   *  nothing unresolved any more (the driver unfreezes it). It is called again later when it throws,
   *  and may be called for a transaction that has ended. */
  start(onSettled: (transaction: string, namespace: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
